export type { ChangeSet } from './change-set.ts';
export { changeSetHash } from './change-set.ts';
export { ChangeStore } from './change-store.ts';
export type { ChangeDecision, ChangeRecord, ChangeView, SeenChange } from './desk.ts';
export { ChangeDesk, titleOf } from './desk.ts';
export type { FileRoots } from './file-roots.ts';
export { fileRoots, readTruePath } from './file-roots.ts';
export type { NextContent, ProposedFile, Staging } from './staging.ts';
export { openStaging } from './staging.ts';
