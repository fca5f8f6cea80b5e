export { sandboxUpstream } from './host-fetch.ts';
export { runSandboxed } from './run-sandboxed.ts';
export type { InstalledTool, InstalledTools, SandboxServerOptions } from './sandbox-server.ts';
export { readInstalledTools, readToolManifest, sandboxServer } from './sandbox-server.ts';
export type { SandboxJob, SandboxOutcome, SandboxPorts, SandboxProgram } from './types.ts';
