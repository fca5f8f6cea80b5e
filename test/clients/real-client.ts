// The two clients as their users have them: a config, an environment, and a command line.
import { join } from 'node:path';
import { filesystemServer } from '../bundled.ts';
import { binFolder, PINNED, type PinnedId } from './installed.ts';
import type { Env, Stage } from './stage.ts';

export interface ClientConfig {
  readonly path: string;
  readonly text: string;
  /** Set where the client writes the file anew whenever it likes: a key that it adds of its own. */
  readonly ownKey?: string;
}

/** Those that all of the tests are for. */
type RealClientId = Extract<PinnedId, 'claude-code' | 'codex'>;

export interface RealClient {
  readonly id: RealClientId;
  readonly title: string;
  /** Undefined where it is not installed. */
  readonly binFolder: string | undefined;
  /** Does one task without a person. */
  readonly command: readonly string[];
  /** The names of its servers; each may reach the files of the project. */
  readonly servers: readonly string[];
  /** How a good session may end on record, by the way in which the client ends its servers. */
  readonly runStatuses: readonly (string | null)[];
  readonly env: (modelUrl: string) => Env;
  readonly configs: (stage: Stage, modelUrl: string) => readonly ClientConfig[];
}

const FILES = filesystemServer();
const TASK = 'Read hello.txt, then write copy.txt.';

/** Whatever they want of the world outside goes to the model, which lets nothing through. */
function offline(modelUrl: string): Env {
  return { HTTPS_PROXY: modelUrl, HTTP_PROXY: modelUrl, NO_PROXY: '127.0.0.1,localhost' };
}

function pinnedClient(about: Omit<RealClient, 'title' | 'binFolder'>): RealClient {
  const pinned = PINNED.find(({ id }) => id === about.id);
  if (pinned === undefined) throw new Error(`${about.id} is not pinned`);
  return { ...about, title: pinned.title, binFolder: binFolder(pinned) };
}

const CLAUDE_CODE = pinnedClient({
  id: 'claude-code',
  command: ['claude', '-p', TASK, '--allowedTools', 'mcp__files,mcp__notes,mcp__drafts'],
  servers: ['files', 'notes', 'drafts'],
  runStatuses: ['SUCCEEDED'],
  env: (modelUrl) => ({
    ...offline(modelUrl),
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'sk-ant-fake',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
  }),
  configs: ({ home, project }) => [
    {
      path: join(home, '.claude.json'),
      ownKey: 'firstStartVersion',
      text: `{
    "mcpServers": {
        "files": {"type": "stdio", "command": ${quoted(process.execPath)},
            "args": [${quoted(FILES)}, ${quoted(project)}], "env": {"KEPT": "as it is"}}
    },
    "projects": { ${quoted(project)}: { "mcpServers": {
        "drafts": {"args": [${quoted(FILES)}, ${quoted(project)}], "command": ${quoted(process.execPath)}}
    } } },
    "numStartups": 7
}`,
    },
    {
      path: join(project, '.mcp.json'),
      text: `{"mcpServers":\n  {"notes": {"command": ${quoted(process.execPath)},\t"args": [${quoted(FILES)}, "."]}}}\r\n`,
    },
    {
      // The servers of a project start only when its user has said yes to them.
      path: join(home, '.claude', 'settings.json'),
      text: '{ "enableAllProjectMcpServers": true }\n',
    },
  ],
});

const CODEX = pinnedClient({
  id: 'codex',
  command: ['codex', 'exec', '--skip-git-repo-check', TASK],
  servers: ['files', 'notes'],
  // It sends SIGKILL right after SIGTERM: what a shim has not recorded by then is lost.
  runStatuses: ['SUCCEEDED', 'LOST', null],
  env: (modelUrl) => ({ ...offline(modelUrl), SCRIPTED_KEY: 'fake' }),
  configs: ({ home, project }, modelUrl) => [
    {
      path: join(home, '.codex', 'config.toml'),
      text: `# My own.
model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "Scripted"
base_url = "${modelUrl}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
supports_websockets = false

[mcp_servers.files]   # what I may read
command = ${quoted(process.execPath)}
required = true # else the first turn does not wait for it
default_tools_approval_mode = "approve"
args = [
  ${quoted(FILES)}, # the server
  ${quoted(project)},
]
  [mcp_servers.files.env]
  KEPT = 'as it is'

[projects.${quoted(project)}]
trust_level = "trusted"
`,
    },
    {
      path: join(project, '.codex', 'config.toml'),
      text: `mcp_servers.notes.args = [${quoted(FILES)}, ${quoted(project)}]\r
mcp_servers.notes.command = ${quoted(process.execPath)}\r
mcp_servers.notes.required = true\r
mcp_servers.notes.default_tools_approval_mode = "approve"`,
    },
  ],
});

/** A string of JSON is one of TOML too. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

export const REAL_CLIENTS: readonly RealClient[] = [CLAUDE_CODE, CODEX];

export function realClient(id: RealClientId): RealClient {
  return id === 'codex' ? CODEX : CLAUDE_CODE;
}
