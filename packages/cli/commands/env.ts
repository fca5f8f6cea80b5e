// `sub env`: points the agents of a shell to the local proxy.
import { agentVariables, envConflicts, readLogin, runningProxy } from '@subluminal/gateway/proxy';
import { userHome } from '@subluminal/plane/config';
import { defineCommand, EXIT, printout } from '../input/command.ts';
import { loadOwnConfig } from '../input/own-config.ts';
import { harmlessLine } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Prints the variables that send the turns of agents to the local proxy, as shell code for `eval`. With --check-conflicts it prints what would win over them instead: other values in the environment, and the config files of Claude Code and Codex.',
  options: { 'check-conflicts': 'Print what would win over these variables' },
  examples: ['sub env', 'sub env --check-conflicts'],
  exitCodes: {
    0: 'the variables are printed; with --check-conflicts: nothing wins over them',
    1: 'with --check-conflicts: something does',
    2: 'wrong flags, or a broken configuration',
  },
  run: async ({ options }) => {
    const { config, paths } = await loadOwnConfig();
    const url = runningProxy(paths.run)?.url ?? `http://127.0.0.1:${config['proxy.port']}`;
    const needsOwnKey = config['proxy.fallback'] === 'own' || readLogin(paths.home) === undefined;
    const wanted = agentVariables(url, needsOwnKey);
    if (!options['check-conflicts']) {
      const lines = Object.entries(wanted).map(([name, value]) => `export ${name}="${value}"\n`);
      return printout(wanted, lines.join(''));
    }
    const { env } = process;
    const conflicts = envConflicts({ env, userHome: userHome(env), cwd: process.cwd(), wanted });
    if (conflicts.length === 0) return printout({ conflicts }, 'Nothing wins over `sub env`.\n');
    const lines = conflicts.map(({ where, why }) => harmlessLine(`${where} ${why}.`));
    return printout({ conflicts }, lines.join(''), EXIT.findings);
  },
});
