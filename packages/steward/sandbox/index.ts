export { sandboxUpstream } from './host-fetch.ts';
export { runSandboxed } from './run-sandboxed.ts';
export { readInstalledTools, readToolManifest, sandboxServer } from './sandbox-server.ts';
export type { SandboxPorts } from './types.ts';
