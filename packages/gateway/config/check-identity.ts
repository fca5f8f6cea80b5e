// Users, teams, repositories and budgets against each other.
import { quote } from '@subluminal/core/visible';
import { repoAddress } from '../auth/repo-address.ts';
import { checkTeam, checkUser } from './check-name.ts';
import type { ConfigFile, ConfigFiles } from './config-file.ts';

/** Ids stand in headers, labels and paths. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._@+-]*$/;

export function checkIdentity(files: ConfigFiles): void {
  const { users, teams, repos } = files;
  checkIds(teams, 'teams', 'team_id');
  checkIds(users, 'users', 'user_id');
  checkIds(repos, 'repos', 'repo_id');
  for (const [index, { team_id }] of (users.value?.users ?? []).entries()) {
    checkTeam(files, { file: users, path: ['users', index, 'team_id'], name: team_id });
  }
  for (const [index, { team_id, owners }] of (repos.value?.repos ?? []).entries()) {
    const path = ['repos', index];
    if (team_id !== undefined) {
      checkTeam(files, { file: repos, path: [...path, 'team_id'], name: team_id });
    }
    for (const [at, name] of owners.entries()) {
      checkUser(files, { file: repos, path: [...path, 'owners', at], name });
    }
  }
  checkRemotes(files);
  const { budgets } = files;
  for (const name of Object.keys(budgets.value?.teams ?? {})) {
    checkTeam(files, { file: budgets, path: ['teams', name], name, atKey: true });
  }
  for (const name of Object.keys(budgets.value?.users ?? {})) {
    checkUser(files, { file: budgets, path: ['users', name], name, atKey: true });
  }
}

/** Each id once, and of a form that can stand anywhere. */
function checkIds<L extends string, F extends string>(
  file: ConfigFile<{ readonly [list in L]: readonly { readonly [field in F]: string }[] }>,
  list: L,
  field: F,
): void {
  const first = new Map<string, number>();
  for (const [index, entry] of (file.value?.[list] ?? []).entries()) {
    const id = entry[field];
    const path = [list, index, field];
    if (!ID.test(id)) {
      const message = `${quote(id)} is no id`;
      const fix =
        'Use letters, digits and `.`, `_`, `-`, `@` or `+`, with a letter or digit first.';
      file.report({ code: 'SUB_GATEWAY_VALUE', path, message, fix });
    }
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, index);
    else {
      const message = `the ${field} ${quote(id)} is already taken by ${list}[${earlier}]`;
      file.report({ code: 'SUB_GATEWAY_DUPLICATE', path, message, fix: 'Rename one of the two.' });
    }
  }
}

/** A remote says which repository a turn is about, so it may name only one. */
function checkRemotes({ repos }: ConfigFiles): void {
  const owner = new Map<string, string>();
  for (const [index, { repo_id, remotes }] of (repos.value?.repos ?? []).entries()) {
    for (const [at, remote] of remotes.entries()) {
      const path = ['repos', index, 'remotes', at];
      const address = repoAddress(remote);
      if (address === undefined) {
        const message = 'expected the remote URL of a repository';
        const fix = 'Write it like `https://github.com/acme/app` or `git@github.com:acme/app.git`.';
        repos.report({ code: 'SUB_GATEWAY_VALUE', path, message, fix });
        continue;
      }
      const other = owner.get(address);
      if (other === undefined) owner.set(address, repo_id);
      else {
        const message = `the remote ${quote(address)} belongs to ${quote(other)} already`;
        const fix = 'Remove it from one of the two.';
        repos.report({ code: 'SUB_GATEWAY_DUPLICATE', path, message, fix });
      }
    }
  }
}
