export type { Inspection, InspectorOptions, TurnFinding } from './inspector.ts';
export { TurnInspector } from './inspector.ts';
