// Secrets belong behind references: no file may hold one, and every reference must lead somewhere.
import type { Failure } from '@subluminal/contracts';
import { createRedactor } from '@subluminal/core/scan';
import type { Path, Problem, SourceTree } from '@subluminal/core/source';
import type { ConfigFile, ConfigFiles } from './config-file.ts';
import { parseSecretRef, REF_FORMS } from './secret-refs.ts';

/** One for all loads: it builds its index when the first text comes. */
const REDACTOR = createRedactor({});

/** A reference, and the place where it stands. */
export interface SecretUse {
  readonly ref: string;
  readonly file: ConfigFile<unknown>;
  readonly path: Path;
}

/** Every reference that is well-formed; what is none is reported, without its text. */
export function secretUses(files: ConfigFiles): readonly SecretUse[] {
  return allRefs(files).filter(({ ref, file, path }) => {
    if (parseSecretRef(ref) !== undefined) return true;
    const message = 'expected a reference to a secret, got another text';
    file.report({ code: 'SUB_GATEWAY_SECRET', path, message, fix: REF_FORMS });
    return false;
  });
}

function allRefs({ gateway, pools, webhooks }: ConfigFiles): readonly SecretUse[] {
  const uses: SecretUse[] = [];
  const add = (file: ConfigFile<unknown>, path: Path, ref: string | undefined): void => {
    if (ref !== undefined) uses.push({ ref, file, path });
  };
  for (const [id, endpoint] of Object.entries(pools.value?.provider_endpoints ?? {})) {
    const at = ['provider_endpoints', id];
    add(pools, [...at, 'key_ref'], endpoint.key_ref);
    for (const [team, ref] of Object.entries(endpoint.team_key_refs ?? {})) {
      add(pools, [...at, 'team_key_refs', team], ref);
    }
  }
  for (const [index, { secret_ref }] of (webhooks.value?.webhooks ?? []).entries()) {
    add(webhooks, ['webhooks', index, 'secret_ref'], secret_ref);
  }
  const { database, telemetry } = gateway.value ?? {};
  add(gateway, ['database', 'url_ref'], database?.url_ref);
  add(gateway, ['telemetry', 'metrics_token_ref'], telemetry?.metrics_token_ref);
  add(gateway, ['telemetry', 'otlp_authorization_ref'], telemetry?.otlp_authorization_ref);
  return uses;
}

/** Reports the references that lead nowhere. */
export function reportUnresolved(
  uses: readonly SecretUse[],
  failed: ReadonlyMap<string, Failure>,
  level: Problem['level'],
): void {
  for (const { ref, file, path } of uses) {
    const why = failed.get(ref);
    if (why === undefined) continue;
    const message = `\`${ref}\` cannot be resolved: ${why.message}`;
    file.report({ level, code: 'SUB_GATEWAY_UNRESOLVED', path, message, fix: why.fix });
  }
}

/** Reports every text that the scanner takes for a secret. */
export function reportPlainSecrets(
  { name, source }: { readonly name: string; readonly source: SourceTree | undefined },
  report: ConfigFile<unknown>['report'],
): void {
  if (source === undefined) return;
  const visit = (tree: SourceTree['tree'], path: Path): void => {
    if (tree.kind === 'list') {
      for (const [index, item] of tree.items.entries()) visit(item, [...path, index]);
    } else if (tree.kind === 'map') {
      for (const [key, { value }] of tree.entries) visit(value, [...path, key]);
    } else if (typeof tree.value === 'string') {
      // With its name, as some secrets are known by what they are called.
      const [found] = REDACTOR.redact(`${String(path.at(-1) ?? name)}: ${tree.value}`).found;
      if (found === undefined) return;
      const message = `a secret stands here in plain text (${found})`;
      report({ code: 'SUB_GATEWAY_SECRET', path, message, fix: `${REF_FORMS} ${REVOKE}` });
    }
  };
  visit(source.tree, []);
}

const REVOKE = 'Revoke the secret if it was ever committed.';

/** A message quotes what stands in the files, and that may be a secret in the wrong place. */
export function withoutSecrets(problems: readonly Problem[]): readonly Problem[] {
  const { plain } = REDACTOR;
  return problems.map((problem) => {
    return { ...problem, message: plain(problem.message), fix: plain(problem.fix) };
  });
}
