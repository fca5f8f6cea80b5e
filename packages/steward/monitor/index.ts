export { Monitor } from './monitor.ts';
export { monitorRules } from './monitor-rules.ts';
