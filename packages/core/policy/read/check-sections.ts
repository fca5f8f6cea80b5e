// What the shapes of the content and taint sections cannot say.
import {
  CLIENT,
  check,
  ENV,
  isObject,
  TAINT_SECTION,
  type TaintSection,
} from '@subluminal/contracts';
import { type Finding, type Path, PROBLEMS_MAX } from '../../source/problem.ts';
import { compileTaint } from '../../taint/compile-policy.ts';
import { likely } from '../../text/nearest.ts';
import { quote } from '../../text/visible.ts';
import { type PatternFault, patternFinding } from './check-patterns.ts';

type GlobFault = (glob: string) => PatternFault | undefined;

const WIDE = /[*?]/;
const EXACT_FIELDS = ['rule', 'server', 'tool', 'fingerprint'] as const;

/** Everything that is wrong in the sections of a bundle or snapshot, apart from their shape. */
export function sectionFindings(value: unknown, globFault: GlobFault): readonly Finding[] {
  if (!isObject(value)) return [];
  return [...wideSuppressions(value['content']), ...taintFindings(value['taint'], globFault)];
}

/** A suppression that silences more than one value would be a hole that nobody sees. */
function wideSuppressions(content: unknown): readonly Finding[] {
  const suppressions = isObject(content) ? content['suppressions'] : undefined;
  if (!Array.isArray(suppressions)) return [];
  const found: Finding[] = [];
  for (const [index, suppression] of suppressions.entries()) {
    for (const field of EXACT_FIELDS) {
      const text: unknown = isObject(suppression) ? suppression[field] : undefined;
      if (typeof text !== 'string' || !WIDE.test(text)) continue;
      const message = `a suppression is for one ${field}, but ${quote(text)} looks like a pattern`;
      const path = ['content', 'suppressions', index, field];
      const fix = 'Write one suppression for each finding, with its names in full.';
      found.push({ code: 'SUB_BUNDLE_VALUE', path, message, fix });
      if (found.length >= PROBLEMS_MAX) return found;
    }
  }
  return found;
}

function taintFindings(value: unknown, globFault: GlobFault): readonly Finding[] {
  if (!isTaint(value)) return [];
  const found: Finding[] = [];
  for (const { glob, path, section } of globsOf(value)) {
    // As it will be used: without case and `_`, a glob that was right may be none.
    const fault = globFault(glob) ?? (section && compileFault(section));
    if (fault !== undefined) {
      found.push(patternFinding({ form: 'glob', source: glob, path }, fault));
    }
    if (found.length >= PROBLEMS_MAX) break;
  }
  return found;
}

function isTaint(value: unknown): value is TaintSection {
  return value !== undefined && check(TAINT_SECTION, value).length === 0;
}

interface PlacedGlob {
  readonly glob: string;
  readonly path: Path;
  /** A section that has this glob alone, where more is done with it than matching names. */
  readonly section?: TaintSection;
}

function globsOf(section: TaintSection): readonly PlacedGlob[] {
  const { sources = [], sinks = [], allow = {}, rule_of_two } = section;
  return [
    ...sources.flatMap((source, index) => namesIn(source, ['taint', 'sources', index])),
    ...sinks.flatMap(({ kind, args, ...names }, index) => [
      ...namesIn(names, ['taint', 'sinks', index]),
      ...args.map((glob, at) => ({
        glob,
        path: ['taint', 'sinks', index, 'args', at],
        section: { sinks: [{ kind, args: [glob] }] },
      })),
    ]),
    ...Object.entries(allow).flatMap(([field, globs]) =>
      (globs ?? []).map((glob, at) => ({
        glob,
        path: ['taint', 'allow', field, at],
        section: { allow: { [field]: [glob] } },
      })),
    ),
    ...(rule_of_two?.tools ?? []).flatMap((tool, index) =>
      namesIn(tool, ['taint', 'rule_of_two', 'tools', index]),
    ),
  ];
}

function namesIn(
  names: { readonly server?: string; readonly tool?: string },
  path: Path,
): readonly PlacedGlob[] {
  return (['server', 'tool'] as const).flatMap((field) => {
    const glob = names[field];
    return glob === undefined ? [] : [{ glob, path: [...path, field] }];
  });
}

function compileFault(section: TaintSection): PatternFault | undefined {
  try {
    compileTaint({ ...section, default_sinks: false });
    return undefined;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it does not compile';
    return { message: `${reason}, once case and \`_\` are left out` };
  }
}

// Selectors that nothing can match: a policy that selects nobody lets everything pass.

/** Fields whose values contract A lists. */
const LISTED = { env: ENV.values, client: CLIENT.values } as const;

/** Every value of a selector that no call can have. */
export function selectorFindings(bundle: unknown): readonly Finding[] {
  const selectors: unknown = isObject(bundle) ? bundle['selectors'] : undefined;
  if (!isObject(selectors)) return [];
  return Object.entries(LISTED).flatMap(([field, known]) => {
    const values: unknown = Object.hasOwn(selectors, field) ? selectors[field] : undefined;
    if (!Array.isArray(values)) return [];
    return values.flatMap((value: unknown, index): Finding[] => {
      // Other types and empty texts are for the shape to refuse.
      if (typeof value !== 'string' || value === '' || known.some((one) => one === value)) {
        return [];
      }
      const path = ['selectors', field, index];
      return [{ code: 'SUB_BUNDLE_VALUE', path, ...wordsFor(field, value, known) }];
    });
  });
}

function wordsFor(field: string, value: string, known: readonly string[]) {
  const unknown = `unknown ${field} ${quote(value)}`;
  const meant = likely(value, known);
  if (meant !== undefined) {
    return { message: `${unknown}; did you mean \`${meant}\`?`, fix: `Write \`${meant}\`.` };
  }
  const message = `${unknown}; expected one of ${known.join(', ')}`;
  const fix = isPattern(value) ? `Leave \`${field}\` out to match all.` : 'Use one of them.';
  return { message, fix };
}

/** Whether a selector looks like a pattern, although selectors are compared exactly. */
export function isPattern(value: string): boolean {
  return /[*?[{]/.test(value);
}
