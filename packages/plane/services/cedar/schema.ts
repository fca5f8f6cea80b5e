// The schema: ours, with the declarations of the user before it, and policies held against both.
import type { Problem } from '@subluminal/core/policy';
import { type ArgumentType, argumentTypes } from './argument-types.ts';
import { BASE_SCHEMA, NO_ARGUMENTS } from './base-schema.ts';
import type { Engine } from './engine.ts';
import type { ParsedPolicy } from './policies.ts';
import { byteOf, type Piece, problemAt, problemOf, wordsOf } from './problems.ts';

type SchemaRead =
  | { readonly ok: true; readonly text: string; readonly types: ArgumentType | undefined }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const CODE = 'SUB_CEDAR_SCHEMA';

/** Puts the schema together; declarations of the user keep their places by standing first. */
export function readSchema(engine: Engine, own: Piece | undefined): SchemaRead {
  const ownText = own?.text ?? '';
  const code = ownText.replace(/\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"/g, '');
  const declared = /\btype\s+Arguments\b/.test(code);
  const text = `${ownText}\n${declared ? '' : NO_ARGUMENTS}${BASE_SCHEMA}`;
  const answer = engine.schemaToJson(text);
  const piece = own ?? { file: 'schema', fileText: '', start: 0, text: '' };
  if (answer.type === 'failure') {
    const problems = answer.errors.map((error) => {
      const words = wordsOf(error, 'Declare `type Arguments` and types of your own, nothing else');
      return problemAt(piece, undeclaredAt(words.fix, piece.text) ?? byteOf(error), {
        code: CODE,
        ...words,
      });
    });
    return { ok: false, problems };
  }
  const extra = Object.entries(answer.json).flatMap(([namespace, { actions }]) => {
    return Object.keys(actions).filter((name) => namespace !== '' || name !== 'tools/call');
  });
  if (extra.length > 0) {
    const message = `the action \`${extra[0]}\` is declared, but calls only ever have \`tools/call\``;
    const fix = 'Remove the action, and use `resource` to tell tools apart.';
    return { ok: false, problems: [problemAt(piece, 0, { code: CODE, message, fix })] };
  }
  return { ok: true, text, types: argumentTypes(answer.json) };
}

/** The engine tells a type that is not declared by its name only. */
function undeclaredAt(fix: string, text: string): number | undefined {
  const [, name] = /^`(\w+)` has not been declared/.exec(fix) ?? [];
  const at = name === undefined ? -1 : text.search(new RegExp(`\\b${name}\\b`));
  return at === -1 ? undefined : Buffer.byteLength(text.slice(0, at));
}

/** Every policy against the schema: errors keep a set from being used, warnings do not. */
export function validatePolicies(
  engine: Engine,
  policies: readonly ParsedPolicy[],
  schema: string,
): readonly Problem[] {
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const staticPolicies = Object.fromEntries(policies.map(({ id, piece }) => [id, piece.text]));
  const answer = engine.validate({ schema, policies: { staticPolicies } });
  if (answer.type === 'failure') {
    return answer.errors.map((error) => {
      return problemOf('policies', { code: 'SUB_CEDAR_POLICY', ...wordsOf(error, 'Correct it') });
    });
  }
  const found = [
    ...answer.validationErrors.map((one) => ({ ...one, level: 'error' as const })),
    ...answer.validationWarnings.map((one) => ({ ...one, level: 'warning' as const })),
  ];
  return found.map(({ policyId, error, level }) => {
    const policy = byId.get(policyId);
    const piece = policy?.piece ?? { file: policyId, fileText: '', start: 0, text: '' };
    const said = wordsOf(error, 'Correct the policy, or declare its arguments in the schema');
    const never = policy?.effect === 'forbid' && said.message.startsWith('policy is impossible');
    const words = never
      ? { level: 'error' as const, ...NEVER_FORBIDS }
      : { level, ...argumentWords(said) };
    return problemAt(piece, byteOf(error), { code: 'SUB_CEDAR_POLICY', path: policyId, ...words });
  });
}

/** A guard that never acts is worse than none; most often it asks for an argument misspelt. */
const NEVER_FORBIDS = {
  message: 'this policy can never forbid anything, because its conditions never hold together',
  fix: 'Declare in the schema what it asks for with `has`, correct the name, or remove the policy.',
} as const;

interface Said {
  readonly message: string;
  readonly fix: string;
}

/** The most likely mistake of all: an argument that nobody has declared. */
function argumentWords({ message, fix }: Said): Said {
  const [, name] = /^attribute `args\.(\w+)` in context for .* not found$/.exec(message) ?? [];
  if (name === undefined) return { message, fix };
  const declare = `declare it: \`type Arguments = { ${name}?: String };\``;
  const isGuess = fix.startsWith('Did you mean');
  return {
    message: `the argument \`${name}\` is not declared in the schema`,
    fix: isGuess ? `${fix} Else ${declare}.` : `In the schema, ${declare}.`,
  };
}
