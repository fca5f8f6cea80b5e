// `sub bind-repo`: asks the gateway to bind a repository to this machine.
import { resolve } from 'node:path';
import { failure } from '@subluminal/contracts';
import { bindRepo, RepoReader } from '@subluminal/gateway/proxy';
import { defineCommand, orThrow, printout, textOption } from '../input/command.ts';
import { developerMachine, requireLogin, withGateway } from '../proxy/developer-machine.ts';
import { harmlessLine } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Asks the gateway for a new binding of the repository to this machine, and keeps it in `.git/aicg-binding`. The proxy does this by itself when a repository is first used; this command is for when that was refused, or for a binding that does not count any more.',
  options: { path: textOption('DIR', 'A folder of the repository (default: the current one)') },
  examples: ['sub bind-repo', 'sub bind-repo --path ~/src/payments'],
  exitCodes: {
    0: 'the repository is bound',
    2: 'wrong flags, no repository, or the gateway refuses or cannot be reached',
  },
  requires: 'person',
  run: async ({ options }) => {
    const folder = resolve(options.path ?? '.');
    const repo = await new RepoReader().read(folder);
    if (repo === undefined) {
      const fix = 'Name a folder of a repository with --path.';
      return failure('SUB_GATEWAY_BINDING', `${folder} is in no git repository.`, fix);
    }
    const machine = await developerMachine();
    const login = await requireLogin(machine);
    const { machineId } = machine;
    const { repoId, expiresMs } = orThrow(
      await withGateway(machine, login, (client) => bindRepo(repo, { client, machineId })),
    );
    const expires_at = new Date(expiresMs).toISOString();
    const text = `${repo.root} is bound to this machine as ${repoId} until ${expires_at}.`;
    return printout({ path: repo.root, repo_id: repoId, expires_at }, harmlessLine(text));
  },
});
