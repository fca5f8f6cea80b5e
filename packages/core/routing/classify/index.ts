export type { ClassifiedTurn, ScanFinding } from './reclassify.ts';
export { reclassify } from './reclassify.ts';
export type { MessageSignals, TaggedTurn, TurnTags } from './tag-turn.ts';
export { messageSignals, tagTurn } from './tag-turn.ts';
