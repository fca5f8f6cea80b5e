// What a server may show and do: its manifest, and the pins of what is known of it.
import { createCommand, flag, type Input, maybe, one, text } from '../input/command.ts';

const INTERNAL = 'a defect in sub itself';
const NO_LOOK =
  'wrong flags, nobody to ask, a server that is not known or cannot be looked at, files that cannot be read or written, or started by an agent';
const jsonFlag = flag('print one JSON document instead of text');
const server = one('the name of the server, as its shim has it');
const client = text('name', 'take its command from the config of this client');
const timeout = text('time', 'how long to wait for the server: 30s (the default), 2m');
const commandLine = {
  doc: 'behind `--`: the command that starts the server, when no client knows it',
  many: true,
  optional: true,
} as const;
const tools = {
  doc: 'names of tools; behind `--`, the command that starts the server',
  many: true,
  optional: true,
} as const;

const INIT_ARGS = { server, 'command-line': commandLine };
const INIT_OPTIONS = {
  client,
  output: text('file', 'write it there instead; `-` is standard output', 'o'),
  force: flag('replace a manifest that is there'),
  timeout,
  json: jsonFlag,
};

const init = createCommand({
  path: ['manifest', 'init'],
  summary: 'look at a server and write a first manifest for it',
  description:
    'Starts the server as its client would, asks it for its tools, prompts and resources, ends it, and writes a cautious manifest: what reads by its name is allowed at a modest rate, what may change something asks a person, what looks destructive is forbidden. Read it before you rely on it: names are chosen by the server.',
  args: INIT_ARGS,
  options: INIT_OPTIONS,
  examples: [
    'sub manifest init github',
    'sub manifest init github --client cursor --force',
    'sub manifest init files --output - -- npx -y @modelcontextprotocol/server-filesystem /srv',
  ],
  exitCodes: { 0: 'the manifest is written', 2: NO_LOOK, 70: INTERNAL },
  requires: 'person',
  load: () => import('../commands/manifest-init.ts'),
});

const CHECK_ARGS = {
  file: { doc: 'manifests; without any, all that are in the folder', many: true, optional: true },
} as const;
const CHECK_OPTIONS = { json: jsonFlag };

const check = createCommand({
  path: ['manifest', 'check'],
  summary: 'find what is wrong with manifests',
  description:
    'Reads manifests as a shim does and prints every problem with its place and its likely fix. In the folder of the manifests, it also looks whether each file is named after its server and can be written by its owner alone.',
  args: CHECK_ARGS,
  options: CHECK_OPTIONS,
  examples: ['sub manifest check', 'sub manifest check drafts/github.yaml'],
  exitCodes: {
    0: 'they can be used',
    1: 'one of them has problems',
    2: 'wrong flags, or a file that cannot be read',
    70: INTERNAL,
  },
  load: () => import('../commands/manifest-check.ts'),
});

const SHOW_ARGS = { server };
const SHOW_OPTIONS = { json: jsonFlag };

const show = createCommand({
  path: ['manifest', 'show'],
  summary: 'tell what the manifest of a server allows',
  description:
    'Says which file is in force for the server, and in words what it allows: each tool with its tier and its limits, what happens to tools that are not listed, parameters, prompts, resources, the breaker and the size of answers.',
  args: SHOW_ARGS,
  options: SHOW_OPTIONS,
  examples: ['sub manifest show github', 'sub manifest show github --json'],
  exitCodes: {
    0: 'it was told, also when there is none',
    1: 'the manifest has problems and is not in force',
    2: 'wrong flags, or a configuration that cannot be read',
    70: INTERNAL,
  },
  load: () => import('../commands/manifest-show.ts'),
});

const LIST_ARGS = {};
const LIST_OPTIONS = { server: text('name', 'only those of this server'), json: jsonFlag };

const list = createCommand({
  path: ['pins', 'list'],
  summary: 'list what is known of the tools of servers',
  description:
    'Lists every tool that is pinned: the hash of its definition, when it was first seen, and when a person accepted it. `sub pins` alone does the same.',
  args: LIST_ARGS,
  options: LIST_OPTIONS,
  examples: ['sub pins list', 'sub pins --server github', 'sub pins list --json'],
  exitCodes: { 0: 'they were listed', 2: 'wrong flags, or unreadable pins', 70: INTERNAL },
  load: () => import('../commands/pins-list.ts'),
});

const DIFF_ARGS = {
  server: maybe('the name of the server; without it, all that are pinned'),
  'command-line': commandLine,
};
const DIFF_OPTIONS = { client, timeout, json: jsonFlag };

const diff = createCommand({
  path: ['pins', 'diff'],
  summary: 'show how a server differs from what is known of it',
  description:
    'Starts the server as its client would, and compares its tools and instructions with the pins: what is new, gone, renamed or changed, field by field. Nothing is accepted by looking.',
  args: DIFF_ARGS,
  options: DIFF_OPTIONS,
  examples: ['sub pins diff', 'sub pins diff github', 'sub pins diff files -- node server.js'],
  exitCodes: {
    0: 'all is as it is known, or nothing is known yet',
    1: 'something has changed',
    2: NO_LOOK,
    70: INTERNAL,
  },
  load: () => import('../commands/pins-diff.ts'),
});

const ACCEPT_ARGS = { server, tool: tools };
const ACCEPT_OPTIONS = {
  all: flag('every tool that is new, gone or changed'),
  instructions: flag('the instructions of the server as well'),
  client,
  timeout,
  yes: flag('do it without asking'),
  json: jsonFlag,
};

const accept = createCommand({
  path: ['pins', 'accept'],
  summary: 'take what a server shows now as known',
  description:
    'Starts the server, shows what has changed, asks, and pins exactly what was shown; the server is not asked again in between. It cannot be used inside a governed run: an agent may not accept for itself.',
  args: ACCEPT_ARGS,
  options: ACCEPT_OPTIONS,
  examples: [
    'sub pins accept github search_code',
    'sub pins accept github --all --instructions',
    'sub pins accept files --all --yes -- node server.js',
  ],
  exitCodes: {
    0: 'it is accepted, there was nothing to accept, or you said no',
    1: 'a tool is there twice or is too large, and cannot be accepted',
    2: NO_LOOK,
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/pins-accept.ts'),
});

const FORGET_ARGS = {
  server,
  tool: { doc: 'names of tools; without any, the whole server', many: true, optional: true },
} as const;
const FORGET_OPTIONS = { yes: flag('do it without asking'), json: jsonFlag };

const forget = createCommand({
  path: ['pins', 'forget'],
  summary: 'forget what is known of a server or of its tools',
  description:
    'Removes pins. What is forgotten is remembered anew, as it is then, when an agent next lists the tools of the server.',
  args: FORGET_ARGS,
  options: FORGET_OPTIONS,
  examples: ['sub pins forget github', 'sub pins forget github search_code --yes'],
  exitCodes: {
    0: 'it is forgotten, or you said no',
    2: 'wrong flags, no such pin, nobody to ask, pins that cannot be read or written, or started by an agent',
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/pins-forget.ts'),
});

const RESET_ARGS = {};
const RESET_OPTIONS = { yes: flag('do it; nothing is done without it'), json: jsonFlag };

const reset = createCommand({
  path: ['pins', 'reset'],
  summary: 'start the pins anew, and keep a copy of the old ones',
  description:
    'For pins that cannot be read any more. Moves the file to `backups/` in the home; every tool is then remembered anew on first sight.',
  args: RESET_ARGS,
  options: RESET_OPTIONS,
  examples: ['sub pins reset --yes'],
  exitCodes: {
    0: 'there are no pins any more',
    2: 'wrong flags, files that cannot be written, or started by an agent',
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/pins-reset.ts'),
});

const SIGN_ARGS = {};
const SIGN_OPTIONS = { yes: flag('do it without asking'), json: jsonFlag };

const sign = createCommand({
  path: ['pins', 'sign'],
  summary: 'look at pins that nobody vouches for, and sign them',
  description:
    'For pins of an earlier version, which did not sign them, or pins whose key was replaced. Lists what is pinned; when you agree, it is signed with the key of the home and believed from then on.',
  args: SIGN_ARGS,
  options: SIGN_OPTIONS,
  examples: ['sub pins sign'],
  exitCodes: {
    0: 'they are signed, there are none, or you said no',
    2: 'wrong flags, nobody to ask, pins that cannot be read or written, or started by an agent',
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/pins-sign.ts'),
});

export const SURFACE_GROUPS = [
  {
    name: 'manifest',
    summary: 'what a server may show and do',
    description: 'Manifests: one file for each server, which says what it may show and do.',
  },
  {
    name: 'pins',
    summary: 'what is known of the tools of servers, and what has changed',
    description:
      'The definitions of tools as they were first seen or accepted. Without a command, they are listed.',
    fallback: 'list',
  },
] as const;

export const SURFACE_COMMANDS = [init, check, show, list, diff, accept, forget, sign, reset];

export type ManifestInitInput = Input<typeof INIT_ARGS, typeof INIT_OPTIONS>;
export type ManifestCheckInput = Input<typeof CHECK_ARGS, typeof CHECK_OPTIONS>;
export type ManifestShowInput = Input<typeof SHOW_ARGS, typeof SHOW_OPTIONS>;
export type PinsListInput = Input<typeof LIST_ARGS, typeof LIST_OPTIONS>;
export type PinsDiffInput = Input<typeof DIFF_ARGS, typeof DIFF_OPTIONS>;
export type PinsAcceptInput = Input<typeof ACCEPT_ARGS, typeof ACCEPT_OPTIONS>;
export type PinsForgetInput = Input<typeof FORGET_ARGS, typeof FORGET_OPTIONS>;
export type PinsResetInput = Input<typeof RESET_ARGS, typeof RESET_OPTIONS>;
export type PinsSignInput = Input<typeof SIGN_ARGS, typeof SIGN_OPTIONS>;
