// MCP servers that the agent could use: it looks for them in a registry, and proposes one with a cautious manifest.
import { isFailure } from '@subluminal/contracts';
import { closed, optional, required, string } from '@subluminal/contracts/shape';
import { visible } from '@subluminal/core/visible';
import { errorAnswer, type OwnServer, type OwnTool, ownTool } from '@subluminal/plane/agent-run';
import type { StewardConfig } from '../../config/index.ts';
import {
  type LookAtServer,
  planServer,
  type Registry,
  type RegistryServer,
} from '../../expansion/index.ts';
import { type ConfigProposals, proposalAnswer } from '../../proposals/index.ts';

export interface ServersServerOptions {
  /** Undefined where the user has named none. */
  readonly registry: Registry | undefined;
  readonly config: () => StewardConfig;
  readonly look: LookAtServer;
  readonly proposals: ConfigProposals;
  /** The run that proposes. */
  readonly runId: () => string;
}

const DISCOVER = closed({ query: required(string({ lengthMax: 200 }), 'A name, or a few words.') });
const PROPOSE = closed({
  name: required(
    string({ lengthMax: 200 }),
    'The name in the registry, like io.example/weather, or that of a server in integrations.yaml.',
  ),
  as: optional(string({ lengthMax: 64 }), 'What to call it here: letters, digits, _ and -.'),
  why: required(string({ lengthMax: 1_024 }), 'What you need it for, for the user.'),
});
const WHY_LENGTH_MAX = 1_024;

export function serversServer(options: ServersServerOptions): OwnServer {
  const { registry } = options;
  return {
    name: 'servers',
    instructions:
      'MCP servers of others, found in a registry. What it says of them was written by their authors.',
    tools: [discoverTool(registry), proposeTool(options)],
    ...(registry !== undefined && { close: () => registry.close() }),
  };
}

function discoverTool(registry: Registry | undefined): OwnTool {
  return ownTool({
    name: 'discover',
    description: 'Look for MCP servers that could do something you cannot do yet.',
    input: DISCOVER,
    annotations: { readOnlyHint: true, openWorldHint: true },
    call: async ({ query }, { signal }) => {
      if (registry === undefined) {
        return { text: 'There is no registry. The user must set one.', isError: true };
      }
      const found = await registry.search(query, signal);
      if (isFailure(found)) return errorAnswer(found);
      const lines = found.flatMap(serverLines);
      return { text: lines.length === 0 ? 'Nothing was found.' : lines.join('\n') };
    },
  });
}

function serverLines({ name, version, title, ...server }: RegistryServer): readonly string[] {
  const { start, isDeprecated, description } = server;
  const way =
    start === undefined
      ? 'It cannot be proposed: it is neither reached at an address nor started from npm or PyPI.'
      : start.kind === 'remote'
        ? `reached at ${visible(start.url, 300)}`
        : `started as ${visible(start.command.join(' '), 300)}`;
  return [
    `- ${name} ${version}${title === undefined ? '' : ` (${title})`}${isDeprecated ? ', deprecated' : ''}`,
    `  ${description}`,
    `  ${way}`,
  ];
}

function proposeTool(options: ServersServerOptions): OwnTool {
  const { registry, config, look, proposals, runId } = options;
  return ownTool({
    name: 'propose',
    description:
      'Propose to use an MCP server: its address or command, and a manifest by which reads run, other tools ask the user, and destructive ones are forbidden. It is used once the user has merged it.',
    input: PROPOSE,
    annotations: {
      ...{ readOnlyHint: false, destructiveHint: false, idempotentHint: true },
      openWorldHint: true,
    },
    call: async ({ name, as, why }, { key, signal }) => {
      const isKnown = config().servers.some((one) => one.name === name);
      const listed = isKnown ? undefined : await registry?.find(name, signal);
      if (isFailure(listed)) return errorAnswer(listed);
      if (listed !== undefined && listed.start === undefined) {
        return { text: 'This server cannot be started or reached by itself.', isError: true };
      }
      const wanted = { name: isKnown ? name : (as ?? localName(name)), start: listed?.start };
      const plan = await planServer(wanted, { config: config(), look });
      if (isFailure(plan)) return errorAnswer(plan);
      const { files, next } = plan;
      const reason = [why, next].join(' ').trim().slice(0, WHY_LENGTH_MAX);
      const made = await proposals.propose({ key, runId: runId(), why: reason, files });
      return proposalAnswer(made, next);
    },
  });
}

/** `io.example/weather-mcp` → `weather-mcp`. */
function localName(name: string): string {
  const last = name.split('/').at(-1) ?? '';
  return last
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/^[-_]+|[-_]+$/g, '')
    .slice(0, 64);
}
