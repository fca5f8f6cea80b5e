export type { FileDiff } from './change-diff.ts';
export type { ChangeSet, FileChangeKind, StagedFile } from './change-set.ts';
export { changeKind, changeSetHash } from './change-set.ts';
export { ChangeStore } from './change-store.ts';
export type {
  ChangeDecision,
  ChangeDeskOptions,
  ChangeRecord,
  ChangeView,
  SeenChange,
} from './desk.ts';
export { ChangeDesk, titleOf } from './desk.ts';
export type { FileRoots, FileRootsOptions } from './file-roots.ts';
export { fileRoots, readTruePath } from './file-roots.ts';
export type { NextContent, Proposal, ProposedFile, Staging } from './staging.ts';
export { openStaging } from './staging.ts';
