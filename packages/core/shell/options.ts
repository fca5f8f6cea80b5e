// The words behind a program: which are options, which are their values, and which are operands.
import type { ProgramSpec, Role } from './programs/spec.ts';

/** One word of a command, with every text that it may be. */
export interface Argument {
  readonly texts: readonly string[];
  /** A message for people. */
  readonly isProse: boolean;
}

export interface OptionValue {
  readonly option: string;
  readonly role: Role;
  readonly value: Argument;
}

export interface ParsedArguments {
  /** Each option by itself: `-rf` is `-rf`, `-r` and `-f`. */
  readonly flags: readonly string[];
  readonly values: readonly OptionValue[];
  readonly operands: readonly Argument[];
  /** Where the first operand stands, or behind the last word. */
  readonly operandsAt: number;
}

interface ParseOptions {
  /** A wrapper's options end where its command begins. */
  readonly stopsAtOperand?: boolean;
}

export function parseArguments(
  given: readonly Argument[],
  spec: ProgramSpec,
  { stopsAtOperand = false }: ParseOptions = {},
): ParsedArguments {
  const flags: string[] = [];
  const values: OptionValue[] = [];
  const operands: Argument[] = [];
  let operandsAt = given.length;
  let isEnded = false;
  for (let at = 0; at < given.length; at++) {
    const argument = given[at];
    if (argument === undefined) break;
    const text = argument.texts[0] ?? '';
    const isOption =
      !isEnded && !argument.isProse && /^[-+]./.test(text) && isOptionSign(text, spec);
    if (isOption && text === '--') isEnded = true;
    else if (isOption) {
      const found = readOption(text, spec);
      flags.push(...found.flags);
      for (const other of argument.texts.slice(1)) flags.push(...readOption(other, spec).flags);
      if (found.role === undefined) continue;
      const glued = found.glued;
      if (glued !== undefined) {
        const texts = argument.texts.map((one) => one.slice(text.length - glued.length));
        values.push({ option: found.option, role: found.role, value: { ...argument, texts } });
      } else if (found.isGuess === true) {
        // `--netrc` may be the start of `--netrc-file`, or an option without a value.
        const value = given[at + 1];
        if (value !== undefined && value.texts[0]?.startsWith('-') !== true)
          values.push({ option: found.option, role: found.role, value });
      } else if (found.role !== 'glued') {
        if (found.role.startsWith('named_')) at++;
        const value = given[++at];
        if (value !== undefined) values.push({ option: found.option, role: found.role, value });
      }
    } else {
      if (operands.length === 0) operandsAt = at;
      if (stopsAtOperand) break;
      operands.push(argument);
    }
    if (isEnded && stopsAtOperand) {
      operandsAt = at + 1;
      break;
    }
  }
  return { flags, values, operands, operandsAt };
}

/** Words that begin with a plus are options of shells alone. */
function isOptionSign(text: string, spec: ProgramSpec): boolean {
  return text.startsWith('-') || spec.kind === 'shell';
}

interface FoundOption {
  readonly flags: readonly string[];
  readonly option: string;
  /** Set when it has a value. */
  readonly role?: Role | undefined;
  /** Only its start was written. */
  readonly isGuess?: boolean;
  /** The value, where it stands in the same word. */
  readonly glued?: string | undefined;
}

function readOption(text: string, spec: ProgramSpec): FoundOption {
  const sign = text.indexOf('=');
  if (text.startsWith('--') || spec.hasLongDashes) {
    const option = sign === -1 ? text : text.slice(0, sign);
    const full = fullOption(option, spec);
    const known = spec.values.get(full);
    const flags = full === option ? [option] : [option, full];
    if (sign === -1) return { flags, option: full, role: known, isGuess: full !== option };
    // A value of an option that is not known may be a path.
    return { flags, option: full, role: known ?? 'maybe_path', glued: text.slice(sign + 1) };
  }
  const whole = spec.values.get(text);
  if (whole !== undefined) return { flags: [text], option: text, role: whole };
  return readCluster(text, spec);
}

/** `--to-c` is `--to-command`: most programs take the start of an option for it. */
function fullOption(option: string, { values, flags }: ProgramSpec): string {
  if (values.has(option) || flags.has(option) || !/^--\w{2}/.test(option)) return option;
  return [...values.keys()].find((name) => name.startsWith(option)) ?? option;
}

/** `-xzf file`, `-ofile`: several options in one word. */
function readCluster(text: string, spec: ProgramSpec): FoundOption {
  const start = text.slice(0, 1);
  const letters: string[] = [];
  for (let at = 1; at < text.length; at++) {
    const option = start + text.charAt(at);
    letters.push(option);
    const role = spec.values.get(option);
    if (role === undefined) continue;
    const glued = text.slice(at + 1);
    const flags = [...new Set([text.slice(0, at + 1), ...letters])];
    return { flags, option, role, glued: glued === '' ? undefined : glued };
  }
  const isCluster = /^[-+][A-Za-z0-9]+$/.test(text);
  return { flags: isCluster ? [...new Set([text, ...letters])] : [text], option: text };
}
