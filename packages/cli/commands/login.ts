// `sub login` and `sub logout`: the key of this machine for the gateway of a team.
import { isFailure } from '@subluminal/contracts';
import {
  forgetLogin,
  gatewayAddress,
  loginPath,
  notLoggedIn,
  openLogin,
  readLogin,
  saveLogin,
} from '@subluminal/gateway/proxy';
import { badUsage, defineCommand, orThrow, printout, textOption } from '../input/command.ts';
import { STDIO } from '../input/read-file.ts';
import {
  type DeveloperMachine,
  developerMachine,
  localUser,
  vaultOf,
  withGateway,
} from '../proxy/developer-machine.ts';
import { personAt, readValue } from '../secrets/ask-person.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmlessLine } from '../terminal/text.ts';

const NO_LOGIN = 'wrong flags, or the gateway does not take the token or cannot be reached';

export const login = defineCommand({
  description:
    'Exchanges a token for a key of your own, and keeps the key in the store of secrets, where there is one that opens without a passphrase being typed, else in a file of the home, for you alone. The first admin has the setup token that the gateway prints at its first start; everyone else has an invite. With `-` the token is asked for without being shown, or read from standard input.',
  options: {
    gateway: textOption('URL', 'The address of the gateway'),
    invite: textOption('TOKEN', 'The invite that an admin gave you; `-` asks for it'),
    setup: textOption('TOKEN', 'The setup token of a new gateway; `-` asks for it'),
    user: textOption('NAME', 'With --setup: who you are to the gateway (default: your user name)'),
  },
  examples: [
    'sub login --gateway https://gateway.example.com --invite -',
    'sub login --gateway https://gateway.example.com --setup - --user ada',
  ],
  exitCodes: { 0: 'this machine is logged in', 2: NO_LOGIN },
  requires: 'person',
  run: async ({ options }, io) => {
    const { gateway, invite, setup, user } = options;
    if (gateway === undefined) return badUsage('--gateway is missing.', 'Give its address.');
    if ((invite === undefined) === (setup === undefined)) {
      return badUsage('Give either --invite or --setup.', 'An admin has the token.');
    }
    if (user !== undefined && setup === undefined) {
      return badUsage('--user goes with --setup.', 'An invite says who you are.');
    }
    const gatewayUrl = orThrow(gatewayAddress(gateway));
    const machine = await developerMachine();
    const known = readLogin(machine.paths.home);
    if (known !== undefined && !isFailure(known)) {
      const message = `this machine is logged in to ${known.gatewayUrl} as ${known.userId}.`;
      return badUsage(message, 'Run `sub logout` first.');
    }
    const token = await readToken(io, invite ?? setup ?? '');
    const { machineId } = machine;
    const made = orThrow(
      await withGateway(machine, { gatewayUrl }, (client) =>
        setup === undefined
          ? client.exchangeInvite(token, machineId)
          : client.setUp(token, user ?? localUser(), machineId),
      ),
    );
    const { user_id: userId, team_id: teamId, role, key_id: keyId, api_key: apiKey } = made;
    const kept = { gatewayUrl, apiKey, keyId, userId, teamId };
    const keptIn = orThrow(await saveLogin(vaultOf(machine), kept));
    const next = 'Next: sub proxy start, then eval "$(sub env)".';
    const text = `Logged in to ${gatewayUrl} as ${userId} (${role}, team ${teamId}). ${next}`;
    const lines = teamId === 'unassigned' ? [text, noTeam(userId)] : [text];
    const document = { gateway_url: gatewayUrl, user_id: userId, team_id: teamId, role };
    return printout(
      { ...document, key_id: keyId, key_in: keptIn },
      lines.map(harmlessLine).join(''),
    );
  },
});

function noTeam(userId: string): string {
  return `No team pays for these turns: add ${userId} to identity/users.yaml of the gateway.`;
}

/** Throws its failure. */
async function readToken(io: Io, given: string): Promise<string> {
  if (given !== STDIO) return given.trim();
  const person = personAt(io);
  try {
    return orThrow(await readValue(io, person, 'the token')).text.trim();
  } finally {
    await person?.close();
  }
}

export const logout = defineCommand({
  description:
    'Revokes the key of this machine at the gateway and removes it from this machine. A running proxy is not stopped; its turns are refused from then on.',
  options: { force: 'Remove the key here although the gateway cannot be reached' },
  examples: ['sub logout', 'sub logout --force'],
  exitCodes: {
    0: 'the key is gone, or there was none',
    2: 'wrong flags, or the gateway cannot be reached',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    const machine = await developerMachine();
    const { home } = machine.paths;
    if (readLogin(home) === undefined) {
      return printout({ logged_out: false }, 'This machine is not logged in.\n');
    }
    const isRevoked = await revoke(machine, io, options.force);
    const left = await forgetLogin(vaultOf(machine));
    if (left !== undefined) warn(io, `The key is still in the store of secrets: ${left.message}`);
    const text = isRevoked
      ? 'Logged out: the key is revoked and removed.'
      : `Logged out: ${loginPath(home)} is removed. The key may still be valid.`;
    return printout({ logged_out: true, revoked: isRevoked }, harmlessLine(text));
  },
});

/** Whether the key is worth nothing any more. Throws its failure unless forced. */
async function revoke(machine: DeveloperMachine, io: Io, isForced: boolean): Promise<boolean> {
  const known = await openLogin(vaultOf(machine));
  if (isFailure(known) && isForced) return false;
  const own = orThrow(known ?? notLoggedIn());
  const revoked = await withGateway(machine, own, (client) => client.revokeKey(own.keyId));
  if (!isFailure(revoked)) return true;
  // Somebody has revoked it before.
  if (revoked.code === 'SUB_GATEWAY_KEY') return true;
  if (!isForced) orThrow({ ...revoked, fix: `${revoked.fix} Or add --force.` });
  warn(io, revoked.message);
  return false;
}
