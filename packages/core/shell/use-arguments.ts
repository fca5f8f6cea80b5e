// What is done with the arguments of a program, by their roles.
import { awkReachesOutside, literalPaths } from './code-text.ts';
import type { Argument, ParsedArguments } from './options.ts';
import type { ProgramSpec, Role } from './programs/spec.ts';
import { listedNames } from './script-input.ts';
import type { ProgramRun, ScriptOutline } from './script-outline.ts';
import { sedFiles } from './sed-script.ts';

export interface NamedRun extends ProgramRun {
  /** The program, as it is written. */
  readonly path: string;
  /** The same without its folder. */
  readonly name: string;
}

/** With these, the last operand is one like the others. */
const TARGET_OPTIONS = ['-t', '--target-directory'];

export interface ReadArguments {
  readonly spec: ProgramSpec;
  readonly parsed: ParsedArguments;
}

/** Notes the values of options and the operands by their roles. */
export function useArguments(
  outline: ScriptOutline,
  run: NamedRun,
  { spec, parsed }: ReadArguments,
): void {
  useValues(outline, run, parsed);
  const { flags } = parsed;
  const isVerb = parsed.operands[0]?.texts.every((text) => spec.verbs.has(text)) === true;
  const operands = isVerb ? parsed.operands.slice(1) : parsed.operands;
  const has = (names: readonly string[] | undefined) =>
    names?.some((name) => flags.some((flag) => isOption(flag, name))) === true;
  const isChanged = has(spec.changesWith);
  const hasLast = spec.last !== undefined && !has(TARGET_OPTIONS);
  const isTree = has(spec.readsTrees) || spec.readsTrees?.[0] === 'always';
  const roles = has(spec.replacesFirst) ? spec.operands.slice(1) : spec.operands;
  for (const [index, operand] of operands.entries()) {
    const isLast = hasLast && index > 0 && index === operands.length - 1;
    const role = isLast ? spec.last : (roles[index] ?? roles.at(-1) ?? spec.operands.at(-1));
    const isInPlace = isChanged && role === 'read';
    useArgument(outline, run, { role: isInPlace ? 'change' : (role ?? 'read'), argument: operand });
    if (isTree && (role === 'read' || role === 'remote_read'))
      for (const text of operand.texts) outline.findings.addTree(text, run.folders);
  }
  if (spec.puts) notePuts(outline, run, { spec, parsed });
  // A search without a folder starts here.
  if (isTree && operands.length < roles.length) outline.findings.addTree('.', run.folders);
}

/** What stands before the last operand is put into it, or in its place; one alone into this folder. */
function notePuts(
  { findings }: ScriptOutline,
  { folders }: NamedRun,
  { parsed }: ReadArguments,
): void {
  const { operands, values, flags } = parsed;
  const named = values.filter(({ option }) => TARGET_OPTIONS.includes(option));
  const targets = named.flatMap(({ value }) => value.texts);
  const isLast = targets.length === 0 && operands.length > 1;
  const last = isLast ? (operands.at(-1)?.texts ?? []) : targets;
  const sources = (isLast ? operands.slice(0, -1) : operands).flatMap(({ texts }) => texts);
  for (const to of last.length === 0 ? ['.'] : last) {
    if (flags.some((flag) => flag.startsWith('--delete'))) findings.addRemoved(to, folders);
    for (const from of sources) findings.addPut({ from, to }, folders);
  }
}

/** Whether a flag is this option; most programs take the start of a long one for it. */
export function isOption(flag: string, name: string): boolean {
  return flag === name || (/^--\w{2}/.test(flag) && name.startsWith(flag));
}

export function useValues(outline: ScriptOutline, run: NamedRun, parsed: ParsedArguments): void {
  for (const { role, value } of parsed.values) useArgument(outline, run, { role, argument: value });
}

interface UsedArgument {
  readonly role: Role;
  readonly argument: Argument;
}

export function useArgument(
  outline: ScriptOutline,
  run: NamedRun,
  { role, argument: { texts, isProse } }: UsedArgument,
): void {
  if (isProse || role === 'none' || role === 'glued' || role === 'named_text') return;
  for (const text of texts) {
    if (role === 'command') outline.runScript(text, run);
    else if (role === 'edited') {
      if (/^\+\D/.test(text)) useCode(outline, run, text.slice(1));
      else if (!/^\+\d*$/.test(text)) outline.findings.add('change', text, run.folders);
    } else if (role === 'write_or_command') {
      if (/^[|!]/.test(text)) outline.runScript(text.slice(1), run);
      else outline.findings.add('write', text, run.folders);
    } else if (role === 'code') useCode(outline, run, text);
    else if (role === 'awk_script') {
      if (awkReachesOutside(text)) useCode(outline, run, text);
    } else if (role === 'sed_script') useSedScript(outline, run, text);
    else if (role === 'query') {
      if (QUERY_LOADS.test(text)) useCode(outline, run, text);
    } else if (role === 'instructions') useInstructions(outline, run, text);
    else outline.findings.add(role, text, run.folders);
  }
}

/** A query of `jq` or `yq` that reads other files than those behind it. */
const QUERY_LOADS = /\bload(?:_\w+)?\s*\(|(?:^|;)\s*(?:include|import)\s+"/;

/** A file that says what else is read or done; names that come in are known where their printer is. */
function useInstructions(outline: ScriptOutline, run: NamedRun, text: string): void {
  if (/^(?:-|\/dev\/stdin)$/.test(text)) return readListed(outline, run);
  outline.findings.add('read', text, run.folders);
  outline.findings.addOpaque('dynamic_argument', text);
}

/** Reads the files whose names come in. */
export function readListed(outline: ScriptOutline, run: NamedRun): void {
  for (const name of listedNames(run, true)) {
    outline.findings.add('read', name, run.folders);
    const [folder, end] = name.split(/\/\*\*?$/, 2);
    if (end !== undefined) outline.findings.addTree(folder ?? '', run.folders);
  }
}

function useSedScript(outline: ScriptOutline, run: NamedRun, script: string): void {
  const { reads, writes, runs } = sedFiles(script);
  if (runs) useCode(outline, run, script);
  for (const path of reads) outline.findings.add('read', path, run.folders);
  for (const path of writes) outline.findings.add('write', path, run.folders);
}

/** Code in another language is not understood, but the paths in it are named. */
export function useCode(outline: ScriptOutline, { folders }: NamedRun, code: string): void {
  outline.findings.addOpaque('inline_code', code);
  for (const path of literalPaths(code)) outline.findings.add('read', path, folders);
}

/** Ways to put several words together. */
const JOINED_MAX = 16;

/** The lines that a program makes of its words, which may each be several texts. */
export function joinedTexts(
  outline: ScriptOutline,
  words: readonly Pick<Argument, 'texts'>[],
): readonly string[] {
  let lines: readonly string[] = [''];
  for (const [index, { texts }] of words.entries()) {
    const sign = index === 0 ? '' : ' ';
    const length = (lines[0]?.length ?? 0) + (texts[0]?.length ?? 0);
    const isMany = lines.length * texts.length > JOINED_MAX;
    if (isMany || !outline.takes(lines.length * texts.length * length)) {
      outline.findings.addOpaque('too_large', lines[0] ?? '');
      return lines;
    }
    lines = lines.flatMap((line) => texts.map((text) => line + sign + text));
  }
  return lines;
}
