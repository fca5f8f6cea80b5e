export type { Family } from './processes.ts';
export { familyOf, SHIM_MARK, strike } from './processes.ts';
export { lineSplitter, readChunks } from './read-lines.ts';
export type { RunningServer, SpawnResult } from './spawn.ts';
export { spawnServer } from './spawn.ts';
export type { StopReason } from './supervise.ts';
export { onSignal, signalExit, supervise, watchParent } from './supervise.ts';
export { createWriter, decodeBytes, openAgent, openAgentEnds, openServer } from './transport.ts';
export { startGuard } from './watchdog.ts';
