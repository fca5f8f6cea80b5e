export { SHIM_MARK } from './processes.ts';
export type { ChunkHandlers, ChunkReader } from './read-lines.ts';
export { lineSplitter, readChunks } from './read-lines.ts';
export type { RunningServer, ServerCommand, SpawnResult, StartFault } from './spawn.ts';
export { spawnServer } from './spawn.ts';
export type {
  Force,
  ServerEnd,
  ShimOutcome,
  StopReason,
  StopSignal,
  SuperviseOptions,
  Supervisor,
} from './supervise.ts';
export { onSignal, supervise } from './supervise.ts';
export type { ChunkWriter, WriterOptions } from './transport.ts';
export { createWriter, decodeBytes, openAgent, openAgentEnds, openServer } from './transport.ts';
