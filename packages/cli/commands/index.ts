// Every command of `sub`, in the order of `sub --help`. A command's file holds the rest of its help,
// its arguments and its code, and is loaded only when the command is named.
import type { CommandEntry, CommandGroup, HelpSection } from '../input/command.ts';

export const HELP_SECTIONS: readonly HelpSection[] = [
  {
    title: 'Get started',
    entries: [
      entry('import', 'Govern the MCP servers of an agent client', () => import('./import.ts')),
      entry(
        'wrap',
        'Run an agent with its MCP servers governed for one session',
        () => import('./wrap.ts'),
      ),
      entry('run', 'Run an agent whose servers are governed already', () => import('./run.ts')),
      entry(
        'status',
        'Show which servers of which clients are governed',
        () => import('./status.ts'),
      ),
      entry('doctor', 'Check the installation and suggest fixes', () => import('./doctor.ts')),
    ],
  },
  {
    title: 'Watch',
    entries: [
      entry('tail', 'Show live tool calls', () => import('./tail.ts')),
      entry('query', 'Search calls and runs in the ledger', () => import('./query.ts')),
      entry('replay', 'Replay a recorded run against another policy', () => import('./replay.ts')),
      group('export', 'Export runs from the ledger', [
        entry('run', 'Export a run as files', () => import('./export-run.ts')),
      ]),
    ],
  },
  {
    title: 'Policy',
    entries: [
      group('policy', 'Check, compile, compare and test policies', [
        entry('lint', 'Check policy bundles for problems', () => import('./policy-lint.ts')),
        entry('compile', 'Compile a bundle into a snapshot', () => import('./policy-compile.ts')),
        entry(
          'verify',
          'Verify the hash and signature of a snapshot',
          () => import('./policy-verify.ts'),
        ),
        entry(
          'keygen',
          'Create a key pair for signing snapshots',
          () => import('./policy-keygen.ts'),
        ),
        entry(
          'diff',
          'Show what changed between two policies, and what loosens',
          () => import('./policy-diff.ts'),
        ),
        entry(
          'explain',
          'Decide calls and show the result of every rule',
          () => import('./policy-explain.ts'),
        ),
        entry(
          'replay',
          'Replay recorded calls against a policy',
          () => import('./policy-replay.ts'),
        ),
      ]),
      group({ name: 'trust', fallback: 'add' }, 'Manage trust in project policies', [
        entry('add', 'Trust the policy of a project', () => import('./trust-add.ts')),
        entry('list', 'List trusted policies', () => import('./trust-list.ts')),
        entry('revoke', 'Revoke the trust in a policy', () => import('./trust-revoke.ts')),
      ]),
      group('manifest', 'Manage what each server may show and do', [
        entry(
          'init',
          'Inspect a server and write a first manifest',
          () => import('./manifest-init.ts'),
        ),
        entry('check', 'Check manifests for problems', () => import('./manifest-check.ts')),
        entry(
          'show',
          'Show what the manifest of a server allows',
          () => import('./manifest-show.ts'),
        ),
      ]),
      group({ name: 'pins', fallback: 'list' }, 'Detect changed tool definitions', [
        entry('list', 'List pinned tools', () => import('./pins-list.ts')),
        entry('diff', 'Compare a server with its pins', () => import('./pins-diff.ts')),
        entry('accept', 'Accept the present tools of a server', () => import('./pins-accept.ts')),
        entry(
          'forget',
          'Remove the pins of a server or of its tools',
          () => import('./pins-forget.ts'),
        ),
        entry('sign', 'Review and sign unsigned pins', () => import('./pins-sign.ts')),
        entry(
          'reset',
          'Start with no pins, and back up the old ones',
          () => import('./pins-reset.ts'),
        ),
      ]),
      group(
        { name: 'hints', fallback: 'list' },
        'List hints given to agents, and turn one into a rule',
        [
          entry('list', 'List hints given to agents', () => import('./hints-list.ts')),
          entry(
            'promote',
            'Allow a call that was rejected with a hint',
            () => import('./hints-promote.ts'),
          ),
        ],
      ),
      entry(
        'scan',
        'Scan files for secrets, personal data, injection and hidden text',
        () => import('./scan.ts'),
      ),
    ],
  },
  {
    title: 'Approvals and secrets',
    entries: [
      group({ name: 'approvals', fallback: 'list' }, 'List and decide pending approvals', [
        entry('list', 'List pending approvals', () => import('./approvals-list.ts')),
        entry(
          'watch',
          'Show approvals as they arrive, and decide them',
          () => import('./approvals-watch.ts'),
        ),
        entry('show', 'Show one approval in full', () => import('./approvals-show.ts')),
        entry('approve', 'Approve a pending call', () => import('./approvals-approve.ts')),
        entry('reject', 'Reject a pending call', () => import('./approvals-reject.ts')),
      ]),
      group({ name: 'grants', fallback: 'list' }, 'List and revoke grants', [
        entry('list', 'List active grants', () => import('./grants-list.ts')),
        entry('revoke', 'Revoke a grant', () => import('./grants-revoke.ts')),
      ]),
      group('secrets', 'Manage the encrypted secrets of servers', [
        entry('add', 'Store a secret', () => import('./secrets-add.ts')),
        entry('get', 'Print a secret', () => import('./secrets-get.ts')),
        entry('list', 'List secrets without their values', () => import('./secrets-list.ts')),
        entry('remove', 'Remove a secret', () => import('./secrets-remove.ts')),
        entry(
          'rotate',
          'Rotate a secret or the key of the store',
          () => import('./secrets-rotate.ts'),
        ),
      ]),
    ],
  },
  {
    title: 'Administration',
    entries: [
      entry('restore', 'Undo `sub import`', () => import('./restore.ts')),
      entry(
        'unwrap',
        'Restore configs that an interrupted `sub wrap` left',
        () => import('./unwrap.ts'),
      ),
      group('ledger', 'Verify and prune the ledger', [
        entry(
          'verify',
          'Verify that nobody changed the ledger',
          () => import('./ledger-verify.ts'),
        ),
        entry('prune', 'Remove old runs from the ledger', () => import('./ledger-prune.ts')),
        entry(
          'accept',
          'Accept a ledger that was changed or rolled back',
          () => import('./ledger-accept.ts'),
        ),
      ]),
      entry('ledgerd', 'Start, stop or inspect the ledger daemon', () => import('./ledgerd.ts')),
      entry('ingest', 'Store recorded events in the ledger', () => import('./ingest.ts')),
      entry('shim', 'Govern one MCP server on stdio', () => import('./shim.ts')),
      entry('completion', 'Print a shell completion script', () => import('./completion.ts')),
      entry('version', 'Print version information', () => import('./version.ts')),
    ],
  },
];

function entry(name: string, summary: string, load: CommandEntry['load']): CommandEntry {
  return { path: [name], summary, load };
}

/** `fallback` names the command that runs when none is given. */
function group(
  names: string | { readonly name: string; readonly fallback: string },
  summary: string,
  commands: readonly CommandEntry[],
): CommandGroup {
  const own = typeof names === 'string' ? { name: names } : names;
  const entries = commands.map((one) => ({ ...one, path: [own.name, ...one.path] }));
  return { ...own, summary, commands: entries };
}
