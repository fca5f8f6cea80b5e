// Names that one place of the configuration gives, and another refers to.
import { nearest } from '@subluminal/core/policy';
import type { Path } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import type { ConfigFile, ConfigFiles } from './config-file.ts';

interface NamePlace {
  readonly file: ConfigFile<unknown>;
  readonly path: Path;
  readonly name: string;
  /** The name is the last key of the path, not its value. */
  readonly atKey?: boolean;
}

interface KnownNames {
  /** Like `endpoint`. */
  readonly what: string;
  /** Undefined when the file that gives them is broken. */
  readonly known: readonly string[] | undefined;
  /** Where a name would be added, like `provider_endpoints`. */
  readonly place: string;
}

/** Reports a name that is not among those there are. */
export function checkName(
  { file, path, name, atKey = false }: NamePlace,
  { what, known, place }: KnownNames,
): void {
  if (known === undefined || known.includes(name)) return;
  const meant = nearest(name, known);
  const about = meant === undefined ? '' : `; did you mean \`${meant}\`?`;
  const message = `there is no ${what} ${quote(name)}${about}`;
  const fix = meant === undefined ? `Add it to ${place}, or correct it.` : `Write \`${meant}\`.`;
  file.report({ code: 'SUB_GATEWAY_REFERENCE', path, message, fix, atKey });
}

export function checkTeam({ teams }: ConfigFiles, given: NamePlace): void {
  const known = teams.value?.teams.map(({ team_id }) => team_id);
  checkName(given, { what: 'team', known, place: 'identity/teams.yaml' });
}

export function checkUser({ users }: ConfigFiles, given: NamePlace): void {
  const known = users.value?.users.map(({ user_id }) => user_id);
  checkName(given, { what: 'user', known, place: 'identity/users.yaml' });
}
