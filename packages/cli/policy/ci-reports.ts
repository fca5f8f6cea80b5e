// Findings in files, in the forms that code hosts show beside the lines.
import type { Position, Problem } from '@subluminal/core/policy';

export interface FileFinding<C extends string = string> {
  readonly level: Problem['level'];
  readonly code: C;
  readonly file: string;
  readonly position: Position;
  readonly message: string;
}

interface SarifTool<C extends string> {
  readonly name: string;
  /** What each code means. */
  readonly describe: (code: C) => string;
}

export function sarifLog<C extends string>(
  { name, describe }: SarifTool<C>,
  findings: readonly FileFinding<C>[],
): object {
  const codes = [...new Set(findings.map(({ code }) => code))];
  const rules = codes.map((id) => ({ id, shortDescription: { text: describe(id) } }));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name, rules } },
        results: findings.map(({ level, code, file, position, message }) => ({
          ruleId: code,
          level,
          message: { text: message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: fileUri(file) },
                region: { startLine: position.line, startColumn: position.column },
              },
            },
          ],
        })),
      },
    ],
  };
}

const COMMANDS = { error: 'error', warning: 'warning', note: 'notice' } as const;

/** Workflow commands, which GitHub shows beside the line; a line break must not begin another one. */
export function githubCommands(title: string, findings: readonly FileFinding[]): string {
  const commands = findings.map(({ level, file, position, message }) => {
    const place = `file=${escaped(file, true)},line=${position.line},col=${position.column}`;
    return `::${COMMANDS[level]} ${place},title=${title}::${escaped(message, false)}\n`;
  });
  return commands.join('');
}

function escaped(text: string, isProperty: boolean): string {
  const plain = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return isProperty ? plain.replaceAll(':', '%3A').replaceAll(',', '%2C') : plain;
}

function fileUri(file: string): string {
  return encodeURI(file).replaceAll('#', '%23').replaceAll('?', '%3F');
}
