export type { MeasuredTurn } from './gateway-metrics.ts';
export { GatewayMetrics } from './gateway-metrics.ts';
export type { TurnSpan } from './span-exporter.ts';
export { SpanExporter } from './span-exporter.ts';
