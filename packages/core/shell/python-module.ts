// `python -m`: what stands behind the name of a module belongs to the module.
import { type Argument, parseArguments } from './options.ts';
import { programSpec } from './programs/index.ts';
import { specOf, specsOf } from './programs/spec.ts';
import type { ScriptOutline } from './script-outline.ts';
import { type NamedRun, useArguments } from './use-arguments.ts';

/** `-m name`, and `-um name` behind options without a value. */
const MODULE_OPTION = /^-[bBdEiIOPqRsSuvx]*m(.*)$/s;
const VALUED = /^-[WX]$/;
/** Run code that is given to them. */
const CODE_MODULE = /^(?:timeit|code|pdb|asyncio|sqlite3|runpy|cProfile|profile|trace)$/;

const MODULES = specsOf({
  'venv virtualenv': { operands: ['write'], values: { '--prompt -p --python': 'none' } },
  'http.server': {
    operands: ['none'],
    values: { '-d --directory': 'path', '-b --bind -p --protocol': 'none' },
  },
  unittest: { operands: ['none'], values: { '-s --start-directory -t': 'read', '-k -p': 'none' } },
});
const PACK = specOf({ operands: ['write', 'read'] });
const UNPACK = specOf({ operands: ['read', 'write'] });

interface PythonModule {
  readonly name: string;
  readonly words: readonly Argument[];
}

/** The module that is run, with the words behind it. */
export function pythonModule(args: readonly Argument[]): PythonModule | undefined {
  for (let at = 0; at < args.length; at++) {
    const text = args[at]?.texts[0] ?? '';
    const [, glued] = MODULE_OPTION.exec(text) ?? [];
    if (glued === '') return { name: args[at + 1]?.texts[0] ?? '', words: args.slice(at + 2) };
    if (glued !== undefined) return { name: glued, words: args.slice(at + 1) };
    if (VALUED.test(text)) at++;
    else if (!text.startsWith('-') || text.startsWith('-c')) return undefined;
  }
  return undefined;
}

/** A module that is a program as well, such as `pip`, reads its words as that does. */
export function runModule(
  outline: ScriptOutline,
  run: NamedRun,
  { name, words }: PythonModule,
): void {
  const { findings } = outline;
  if (CODE_MODULE.test(name)) findings.addOpaque('inline_code', name);
  if (name === 'zipfile' || name === 'tarfile') return runArchive(outline, run, words);
  const spec = MODULES.get(name) ?? programSpec(name);
  const parsed = parseArguments(words, spec);
  useArguments(outline, run, { spec, parsed });
  if (name !== 'http.server') return;
  const roots = parsed.values.flatMap(({ role, value }) => (role === 'path' ? value.texts : []));
  for (const root of roots.length === 0 ? ['.'] : roots) findings.addTree(root, run.folders);
}

function runArchive(outline: ScriptOutline, run: NamedRun, words: readonly Argument[]): void {
  const { flags } = parseArguments(words, PACK);
  const isPacked = flags.includes('-c') || flags.includes('--create');
  const spec = isPacked ? PACK : UNPACK;
  const parsed = parseArguments(words, spec);
  useArguments(outline, run, { spec, parsed });
  const [, ...others] = parsed.operands.flatMap(({ texts }) => texts);
  const isUnpacked = flags.includes('-e') || flags.includes('--extract');
  if (isPacked) for (const text of others) outline.findings.addTree(text, run.folders);
  if (!isUnpacked) return;
  const [to = '.'] = others;
  outline.findings.add('write', to, run.folders);
  outline.findings.addPut({ from: undefined, to }, run.folders);
}
