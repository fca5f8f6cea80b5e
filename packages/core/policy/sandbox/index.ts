// The clients whose own sandbox a policy can be written into: one file per client, and a line here.
import { CLAUDE_SANDBOX } from './claude-sandbox.ts';
import { CODEX_SANDBOX } from './codex-sandbox.ts';
import { CURSOR_SANDBOX } from './cursor-sandbox.ts';
import type { SandboxDialect } from './settings.ts';

export { compileSandbox } from './compile-sandbox.ts';
export { withProtected } from './protected-paths.ts';
export type {
  LeftRule,
  SandboxDialect,
  SandboxPlaces,
  SandboxPlan,
  SandboxSettings,
  SettingsChange,
} from './settings.ts';

export const SANDBOX_DIALECTS: readonly SandboxDialect[] = [
  CLAUDE_SANDBOX,
  CODEX_SANDBOX,
  CURSOR_SANDBOX,
];
