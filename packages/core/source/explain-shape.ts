// Where a file does not fit its shape: put into words that name the likely fix.
import type { Mismatch, SubCode } from '@subluminal/contracts';
import { likely, nearest } from '../text/nearest.ts';
import { quote } from '../text/visible.ts';
import { formatPath, type Path, type Problem, sorted } from './problem.ts';
import type { SourceTree } from './read-source.ts';
import { follow, sourceOffset, type Tree } from './tree.ts';
import { typeFix, valueFix, written } from './type-fix.ts';

/** Something wrong at a place in a file. */
export interface SourceFinding {
  /** An error unless it says otherwise. */
  readonly level?: Problem['level'];
  readonly code: SubCode;
  readonly path: Path;
  readonly message: string;
  readonly fix: string;
  /** Set when the key is wrong, not the value behind it. */
  readonly atKey?: boolean;
  /** How far inside the string at `path`, where an expression knows that. */
  readonly inside?: number;
}

type SourceAdvice = Pick<SourceFinding, 'code' | 'message' | 'fix'>;

/** How one kind of file is spoken of. */
export interface ShapeWords {
  /** Like `a manifest`. */
  readonly title: string;
  /** What a file that holds no object should start with, as an instruction. */
  readonly start: string;
  readonly codes: { readonly field: SubCode; readonly value: SubCode };
  /** What other tools and other parts of the product call its fields. */
  readonly synonyms?: ReadonlyMap<string, string>;
  readonly missingFix?: (name: string) => string | undefined;
  /** Better words for a wrong value than those of its type. */
  readonly valueWords?: (name: string, tree: Tree) => Omit<SourceAdvice, 'code'> | undefined;
}

/** Mismatches of a shape as findings. */
export function explainShape(
  mismatches: readonly Mismatch[],
  root: Tree,
  words: ShapeWords,
): readonly SourceFinding[] {
  return mismatches.map((mismatch) => {
    const { path, problem } = mismatch;
    if (problem === 'unknown') return { path, atKey: true, ...unknownField(mismatch, root, words) };
    if (problem === 'missing') {
      const name = String(path.at(-1));
      const fix = words.missingFix?.(name) ?? `Add \`${name}\`.`;
      return { code: words.codes.field, path, message: `missing ${mismatch.expected}`, fix };
    }
    return { path, ...wrongValue(mismatch, root, words) };
  });
}

function unknownField({ path, choices }: Mismatch, root: Tree, words: ShapeWords): SourceAdvice {
  const code = words.codes.field;
  const name = String(path.at(-1));
  const { tree } = follow(root, path.slice(0, -1));
  const free = choices.filter((field) => tree.kind !== 'map' || !tree.entries.has(field));
  const known = words.synonyms?.get(name.toLowerCase());
  const meant = free.find((field) => field === known) ?? likely(name, free);
  if (meant !== undefined) {
    const message = `unknown field ${quote(name)}; did you mean \`${meant}\`?`;
    return { code, message, fix: `Rename it to \`${meant}\`.` };
  }
  if (known !== undefined && choices.includes(known)) {
    const message = `unknown field ${quote(name)}; \`${known}\` holds that`;
    return { code, message, fix: `Put its values into \`${known}\`.` };
  }
  const message = `unknown field ${quote(name)}; the fields here are ${choices.join(', ')}`;
  return { code, message, fix: 'Remove it.' };
}

function wrongValue(mismatch: Mismatch, root: Tree, words: ShapeWords): SourceAdvice {
  const code = words.codes.value;
  const { path, problem, choices, expected } = mismatch;
  const { tree } = follow(root, path);
  if (path.length === 0) {
    const message = `${words.title} is an object, but this file holds ${written(tree)}`;
    return { code, message, fix: words.start };
  }
  const name = path.findLast((step) => typeof step === 'string') ?? '';
  if (choices.length > 0 && tree.kind === 'scalar' && typeof tree.value === 'string') {
    const meant = nearest(tree.value, choices);
    const message = `unknown ${name} ${quote(tree.value)}; expected one of ${choices.join(', ')}`;
    return { code, message, fix: meant === undefined ? 'Use one of them.' : `Write \`${meant}\`.` };
  }
  const better = words.valueWords?.(name, tree);
  if (better !== undefined) return { code, ...better };
  const message = `expected ${expected}, got ${written(tree)}`;
  const fix = problem === 'value' ? valueFix(mismatch, tree) : typeFix(name, expected, tree);
  return { code, message, fix };
}

/** Findings with the line and column where each stands. */
export function placed(
  findings: readonly SourceFinding[],
  file: string,
  source: SourceTree,
): readonly Problem[] {
  const problems = findings.map((finding): Problem => {
    const { level = 'error', code, path, message, fix, atKey, inside } = finding;
    const { tree, keyOffset } = follow(source.tree, path);
    const isInside = inside !== undefined && tree.kind === 'scalar';
    const offset = isInside ? sourceOffset(tree, inside) : tree.offset;
    const position = source.positionAt(atKey === true ? keyOffset : offset);
    return { level, code, file, position, path: formatPath(path), message, fix };
  });
  return sorted(problems);
}

/** The reader of sources writes of bundles; here the same problem names another kind of file. */
export function reworded(
  problem: Problem,
  { code, noun, start }: { readonly code: SubCode; readonly noun: string; readonly start: string },
): Problem {
  const words = (text: string) => text.replaceAll('bundle', noun).replaceAll('policy', noun);
  const fix = problem.fix.startsWith('Start with') ? start : words(problem.fix);
  return { ...problem, code, message: words(problem.message), fix };
}
