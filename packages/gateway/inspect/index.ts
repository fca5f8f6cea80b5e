export type { Inspection } from './inspector.ts';
export { type InspectorOptions, TurnInspector } from './inspector.ts';
