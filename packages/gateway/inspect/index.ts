export type { Inspection } from './inspector.ts';
export { TurnInspector } from './inspector.ts';
