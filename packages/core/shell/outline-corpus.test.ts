// Command lines with what they touch, each told by hand; and a second reader as a judge.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { grammarPrograms } from '../../../test/corpora/shell/grammar.ts';
import { shellCorpus } from '../../../test/corpora/shell/read-corpus.ts';
import { outlineCommand } from './outline.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FILES = ['everyday', 'tools', 'evasive'];
const CORPUS = FILES.flatMap(shellCorpus);

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted();
}

describe.each(FILES)('the corpus of %s lines', (name) => {
  it.each(shellCorpus(name).map((one) => [one.line, one] as const))('%s', (line, expected) => {
    const { programs, reads, trees, writes, hosts, paths, opaque } = outlineCommand(line);
    const found = {
      programs: sorted(programs.map((program) => program.name)),
      reads: sorted(reads),
      trees: sorted(trees),
      writes: sorted(writes),
      hosts: sorted(hosts),
      opaque: sorted(opaque.map(({ why }) => why)),
    };
    expect(found).toEqual({
      programs: sorted(expected.programs),
      reads: sorted(expected.reads),
      trees: sorted(expected.trees),
      writes: sorted(expected.writes),
      hosts: sorted(expected.hosts),
      opaque: sorted(expected.opaque),
    });
    expect(paths).toEqual(expect.arrayContaining([...reads, ...writes]));
    expect(sorted(expected.paths ?? paths)).toEqual(sorted(paths));
  });
});

it('the corpora hold more than four hundred lines', () => {
  expect(new Set(CORPUS.map(({ line }) => line)).size).toBeGreaterThan(400);
});

/** Names that are functions of the line, and no programs. */
function functionsIn(line: string): ReadonlySet<string> {
  const defined = line.matchAll(/([\w:.-]+)[ \t]*\([ \t]*\)|\bfunction[ \t]+([\w:.-]+)/g);
  return new Set([...defined].map(([, before, behind]) => before ?? behind ?? ''));
}

/** Words of the shell that the grammar takes for programs. */
const RESERVED = new Set(['time', 'coproc', 'fi', 'done', 'esac', 'then', 'do']);
/** To bash a carriage return is a letter, and a backslash joins lines also inside of a word. */
const MISREAD = /\r|\\\n/;

/** The programs that the grammar finds and we don't, unless we say that something is not known. */
function missedIn(lines: readonly string[], judge: (line: string) => readonly string[]): unknown {
  return lines.flatMap((line) => {
    const { programs, opaque } = outlineCommand(line);
    const found = new Set(programs.map(({ name }) => name));
    const functions = functionsIn(line);
    const names = judge(line).filter((name) => {
      return !found.has(name) && !functions.has(name) && !RESERVED.has(name);
    });
    const isMissed = names.length > 0 && opaque.length === 0 && !MISREAD.test(line);
    return isMissed ? [{ line, names }] : [];
  });
}

/** Command lines that nobody wrote for us: scripts of packages, and examples in what they say. */
function foreignLines(): readonly string[] {
  const { packages } = JSON.parse(read('node_modules/.package-lock.json')) as { packages: object };
  const lines = Object.keys(packages).flatMap((folder) => [
    ...scriptsIn(read(`${folder}/package.json`)),
    ...['README.md', 'readme.md'].flatMap((name) => examplesIn(read(`${folder}/${name}`))),
  ]);
  return [...new Set(lines)];
}

/** Packages of other platforms are not there. */
function read(path: string): string {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '';
}

function scriptsIn(json: string): readonly string[] {
  if (json === '') return [];
  const { scripts = {} } = JSON.parse(json) as { scripts?: object };
  return Object.values(scripts).filter((line): line is string => typeof line === 'string');
}

/** Blocks of commands in Markdown, as a whole and line by line. */
function examplesIn(markdown: string): readonly string[] {
  const blocks = markdown.matchAll(/^```(?:sh|bash|shell|zsh|console)\n([\s\S]*?)^```/gm);
  return [...blocks].flatMap(([, text = '']) => {
    const block = text.replace(/^[$>] /gm, '');
    return [block, ...block.split('\n').filter((line) => /\w/.test(line))];
  });
}

describe('a second reader, the grammar of tree-sitter,', () => {
  it('finds no program in the corpora that we miss', async () => {
    expect(
      missedIn(
        CORPUS.map(({ line }) => line),
        await grammarPrograms(),
      ),
    ).toEqual([]);
  });

  it('finds no program in the command lines of other people that we miss', async () => {
    const lines = foreignLines();
    expect(missedIn(lines, await grammarPrograms())).toEqual([]);
    expect(lines.length).toBeGreaterThan(1_500);
  });
});
