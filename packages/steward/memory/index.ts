export { openLocalEmbedder } from './embedders/local-embedder.ts';
export {
  openProviderEmbedder,
  type ProviderEmbedderOptions,
} from './embedders/provider-embedder.ts';
export type { Embedder } from './embedders/types.ts';
export { type MemoryOptions, openMemory } from './open-memory.ts';
export { recallText } from './recall.ts';
export type {
  AddedMemory,
  AgentMemory,
  AgentProvenance,
  AuditFinding,
  AuditReport,
  CoreFact,
  FindingKind,
  ForgetReport,
  ForgetTarget,
  FoundMemory,
  Memory,
  MemoryEntry,
  MemoryList,
  MemoryQuery,
  MemoryRequest,
  MemoryRequestBody,
  MemorySource,
  MemoryState,
  MemoryStatus,
  NewMemory,
  NewMemoryRequest,
  Provenance,
  VectorStatus,
} from './types.ts';
