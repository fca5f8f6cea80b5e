// Every command of `sub`, in the order of `sub --help`. A command's file holds the rest of its help,
// its arguments and its code, and is loaded only when the command is named.
import type { Command, CommandEntry, CommandGroup, HelpSection } from '../input/command.ts';

/** A command that has a file of its own, or one that its file exports by its name. */
type CommandFile<N extends string> = { readonly command: Command } | { readonly [K in N]: Command };
/** The commands by their names, each with its summary and its file. */
type CommandTable<N extends string> = {
  readonly [K in N]: readonly [summary: string, load: () => Promise<CommandFile<NoInfer<K>>>];
};

const EXPORT = group('export', 'Export runs from the ledger', {
  run: ['Export a run as files', () => import('./export-run.ts')],
});

const POLICY = group('policy', 'Check, compile, compare and test policies', {
  lint: ['Check policy bundles for problems', () => import('./policy-lint.ts')],
  compile: ['Compile a bundle into a snapshot', () => import('./policy-snapshot.ts')],
  verify: ['Verify the hash and signature of a snapshot', () => import('./policy-snapshot.ts')],
  keygen: ['Create a key pair for signing snapshots', () => import('./policy-snapshot.ts')],
  diff: [
    'Show what changed between two policies, and what loosens',
    () => import('./policy-compare.ts'),
  ],
  explain: ['Decide calls and show the result of every rule', () => import('./policy-explain.ts')],
  test: ['Test that a policy decides as expected', () => import('./policy-test.ts')],
  suggest: ['Suggest a policy that allows what was recorded', () => import('./policy-suggest.ts')],
  replay: ['Replay recorded calls against a policy', () => import('./policy-compare.ts')],
  sandbox: [
    "Write what a policy forbids into a client's own sandbox",
    () => import('./policy-sandbox.ts'),
  ],
});

const TRUST = group('trust', 'Manage trust in project policies', {
  add: ['Trust the policy of a project', () => import('./trust.ts')],
  list: ['List trusted policies', () => import('./trust.ts')],
  revoke: ['Revoke the trust in a policy', () => import('./trust.ts')],
});

const MANIFEST = group('manifest', 'Manage what each server may show and do', {
  init: ['Inspect a server and write a first manifest', () => import('./manifest.ts')],
  check: ['Check manifests for problems', () => import('./manifest.ts')],
  show: ['Show what the manifest of a server allows', () => import('./manifest.ts')],
});

const PINS = group('pins', 'Detect changed tool definitions', {
  list: ['List pinned tools', () => import('./pins.ts')],
  diff: ['Compare a server with its pins', () => import('./pins-compare.ts')],
  accept: ['Accept the present tools of a server', () => import('./pins-compare.ts')],
  forget: ['Remove the pins of a server or of its tools', () => import('./pins.ts')],
  sign: ['Review and sign unsigned pins', () => import('./pins.ts')],
  reset: ['Start with no pins, and back up the old ones', () => import('./pins.ts')],
});

const HINTS = group('hints', 'List hints given to agents, and turn one into a rule', {
  list: ['List hints given to agents', () => import('./hints.ts')],
  promote: ['Allow a call that was rejected with a hint', () => import('./hints.ts')],
});

const APPROVALS = group('approvals', 'List and decide pending approvals', {
  list: ['List pending approvals', () => import('./approvals.ts')],
  watch: ['Show approvals as they arrive, and decide them', () => import('./approvals-watch.ts')],
  show: ['Show one approval in full', () => import('./approvals.ts')],
  approve: ['Approve a pending call', () => import('./approvals.ts')],
  reject: ['Reject a pending call', () => import('./approvals.ts')],
});

const GRANTS = group('grants', 'List and revoke grants', {
  list: ['List active grants', () => import('./grants.ts')],
  revoke: ['Revoke a grant', () => import('./grants.ts')],
});

const SECRETS = group('secrets', 'Manage the encrypted secrets of servers', {
  add: ['Store a secret', () => import('./secrets.ts')],
  get: ['Print a secret', () => import('./secrets.ts')],
  list: ['List secrets without their values', () => import('./secrets.ts')],
  remove: ['Remove a secret', () => import('./secrets.ts')],
  rotate: ['Rotate a secret or the key of the store', () => import('./secrets.ts')],
});

const AUTH = group('auth', 'Log in to remote servers', {
  login: ['Log in to a remote server', () => import('./auth.ts')],
  status: ['Show where you are logged in', () => import('./auth.ts')],
  logout: ['Log out of a remote server', () => import('./auth.ts')],
});

const GATEWAY = group('gateway', 'Run and configure the model gateway of a team', {
  init: ['Write an example configuration', () => import('./gateway.ts')],
  check: ['Check a configuration for problems', () => import('./gateway.ts')],
  orphans: ['List turns of unknown users, teams and repos', () => import('./gateway.ts')],
  serve: ['Run the gateway', () => import('./gateway-serve.ts')],
  invite: ['Invite a user', () => import('./gateway-admin.ts')],
  approvals: ['List turns that wait for a person', () => import('./gateway-admin.ts')],
  approve: ['Let a turn that waits go on', () => import('./gateway-admin.ts')],
  reject: ['Refuse a turn that waits', () => import('./gateway-admin.ts')],
});

const SERVE: CommandGroup = {
  ...group('serve', 'Serve MCP servers over HTTP', {
    start: ['Serve the servers of a configuration', () => import('./serve.ts')],
    key: ['Make an API key for a caller', () => import('./serve-key.ts')],
  }),
  fallback: 'start',
};

const ROUTING = group('routing', 'See how the gateway chose where turns go', {
  replay: ['Choose again where a turn went', () => import('./routing.ts')],
});

const PROXY = group('proxy', 'Run the local proxy to a gateway', {
  start: ['Start the local proxy', () => import('./proxy.ts')],
  stop: ['Stop the local proxy', () => import('./proxy.ts')],
  status: ['Show whether the local proxy runs', () => import('./proxy.ts')],
  policy: ['Show the rules of the gateway for you', () => import('./proxy-policy.ts')],
});

const STEWARD = group('steward', 'Run Steward, a personal agent that is governed', {
  init: ['Write its configuration folder', () => import('./steward.ts')],
  start: ['Start it in the background', () => import('./steward.ts')],
  chat: ['Talk with it at the terminal', () => import('./steward.ts')],
  status: ['Show its tasks, its cost and what waits for you', () => import('./steward.ts')],
  stop: ['Stop it', () => import('./steward.ts')],
  review: ['Decide about the changes that it proposes', () => import('./steward-review.ts')],
  skills: ['Propose a skill that somebody else has written', () => import('./steward-skills.ts')],
  memory: ['See, set and forget what it remembers', () => import('./steward-memory.ts')],
  pair: ['Let a sender of a channel write to it', () => import('./steward-pair.ts')],
});

const LEDGER = group('ledger', 'Verify and prune the ledger', {
  verify: ['Verify that nobody changed the ledger', () => import('./ledger.ts')],
  prune: ['Remove old runs from the ledger', () => import('./ledger.ts')],
  accept: ['Accept a ledger that was changed or rolled back', () => import('./ledger.ts')],
});

export const HELP_SECTIONS: readonly HelpSection[] = [
  {
    title: 'Get started',
    entries: [
      ...table({
        demo: ['Watch a scripted agent under a policy', () => import('./demo.ts')],
        init: ['Write a starter policy for a project', () => import('./init.ts')],
        import: ['Govern the MCP servers of an agent client', () => import('./import.ts')],
        wrap: [
          'Run an agent with its MCP servers governed for one session',
          () => import('./wrap.ts'),
        ],
        run: ['Run an agent whose servers are governed already', () => import('./run.ts')],
        status: ['Show which servers of which clients are governed', () => import('./status.ts')],
        doctor: ['Check the installation and suggest fixes', () => import('./doctor.ts')],
      }),
    ],
  },
  {
    title: 'Watch',
    entries: [
      ...table({
        ui: ['Open the page in the browser', () => import('./ui.ts')],
        tail: ['Show live tool calls', () => import('./tail.ts')],
        query: ['Search calls and runs in the ledger', () => import('./query.ts')],
        show: ['Show one call in full', () => import('./show.ts')],
        stats: ['Add up the turns, tokens and cost of models', () => import('./stats.ts')],
        replay: ['Replay a recorded run against another policy', () => import('./replay.ts')],
      }),
      EXPORT,
    ],
  },
  {
    title: 'Policy',
    entries: [
      POLICY,
      { ...TRUST, fallback: 'add' },
      MANIFEST,
      { ...PINS, fallback: 'list' },
      { ...HINTS, fallback: 'list' },
      ...table({
        scan: [
          'Scan files for secrets, personal data, injection and hidden text',
          () => import('./scan.ts'),
        ],
      }),
    ],
  },
  {
    title: 'Approvals and secrets',
    entries: [{ ...APPROVALS, fallback: 'list' }, { ...GRANTS, fallback: 'list' }, SECRETS, AUTH],
  },
  {
    title: 'Models',
    entries: [
      ...table({
        login: ['Log this machine in to a gateway', () => import('./login.ts')],
        logout: ['Revoke and remove the key of this machine', () => import('./login.ts')],
      }),
      PROXY,
      ...table({
        'bind-repo': ['Bind a repository to this machine', () => import('./bind-repo.ts')],
        env: ['Print the variables that point agents to the proxy', () => import('./env.ts')],
      }),
      GATEWAY,
      ROUTING,
    ],
  },
  { title: 'Agent', entries: [STEWARD] },
  {
    title: 'Administration',
    entries: [
      ...table({
        restore: ['Undo `sub import`', () => import('./restore.ts')],
        uninstall: [
          'Restore every client, stop the daemon, and remove the data if asked',
          () => import('./uninstall.ts'),
        ],
        unwrap: [
          'Restore configs that an interrupted `sub wrap` left',
          () => import('./unwrap.ts'),
        ],
      }),
      LEDGER,
      SERVE,
      ...table({
        ledgerd: ['Start, stop or inspect the ledger daemon', () => import('./ledgerd.ts')],
        ingest: ['Store recorded events in the ledger', () => import('./ingest.ts')],
        shim: ['Govern one MCP server: a command, or an address', () => import('./shim.ts')],
        hook: ['Answer a hook of a client', () => import('./hook.ts')],
        'hook-host': ['Answer the hooks of one agent', () => import('./hook-host.ts')],
        completion: ['Print a shell completion script', () => import('./completion.ts')],
        version: ['Print version information', () => import('./version.ts')],
      }),
    ],
  },
];

function table<N extends string>(
  commands: CommandTable<N>,
  ...parents: readonly string[]
): readonly CommandEntry[] {
  const entries: CommandEntry[] = [];
  for (const name in commands) {
    const [summary, open] = commands[name];
    const load = async () => {
      const file = await open();
      return 'command' in file ? file : { command: file[name] };
    };
    entries.push({ path: [...parents, name], summary, load });
  }
  return entries;
}

function group<N extends string>(
  name: string,
  summary: string,
  commands: CommandTable<N>,
): CommandGroup {
  return { name, summary, commands: table(commands, name) };
}
