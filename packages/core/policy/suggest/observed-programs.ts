// The programs that the commands of a recorded call ran, as a rule names them.
import { isJsonObject } from '@subluminal/contracts';
import { commandsInArgs } from '../../shell/command-args.ts';
import { outlineCommand, type ProgramUse } from '../../shell/index.ts';

/** Programs of many commands: the first word behind them says what they do. */
const WITH_COMMANDS = new Set(
  'git npm pnpm yarn bun cargo go docker gh kubectl uv poetry'.split(' '),
);
const COMMAND_WORD = /^[a-z][a-z-]{1,20}$/;
const PROGRAM_NAME = /^[\w.+[-]{1,40}$/;

/** Undefined for a call that runs no command. What is not understood, or called by a path, is left out. */
export function programsIn(
  { server, tool }: { readonly server: string; readonly tool: string },
  args: unknown,
): readonly string[] | undefined {
  if (!isJsonObject(args)) return undefined;
  const { commands } = commandsInArgs({ server_name: server, tool_name: tool }, args);
  if (commands.length === 0) return undefined;
  return commands.flatMap(({ line, isObscured }) => {
    const { programs, opaque } = outlineCommand(line);
    return isObscured || opaque.length > 0 ? [] : programs.flatMap(entryFor);
  });
}

function entryFor({ name, path, args: [first = ''] }: ProgramUse): readonly string[] {
  if (path !== name || !PROGRAM_NAME.test(name)) return [];
  if (!WITH_COMMANDS.has(name)) return [name.replaceAll('[', '\\[')];
  return COMMAND_WORD.test(first) ? [`${name} ${first}*`] : [];
}
