export { openLocalEmbedder } from './embedders/local-embedder.ts';
export { openProviderEmbedder } from './embedders/provider-embedder.ts';
export type { Embedder } from './embedders/types.ts';
export { openMemory } from './open-memory.ts';
export { isFromOutside } from './trust.ts';
export type {
  AddedMemory,
  AgentMemory,
  FoundMemory,
  Memory,
  MemoryEntry,
  MemoryRequest,
  MemorySource,
} from './types.ts';
