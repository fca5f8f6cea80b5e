// What a person has to do about a definition that is not what was pinned.
import { shellWord } from '@subluminal/core/visible';
import type { ChangedDefinition } from '@subluminal/plane/ledger';

export function changeLine({ server_name, tool_name, enforced }: ChangedDefinition): string {
  const what =
    tool_name === null
      ? `the instructions of the server ${server_name} have`
      : `the definition of ${tool_name} of the server ${server_name} has`;
  const effect = enforced ? 'calls are refused until a person accepts it' : 'nothing is refused';
  const server = shellWord(server_name);
  const accepted = tool_name === null ? '--instructions' : shellWord(tool_name);
  return `${what} changed since it was pinned; ${effect}: \`sub pins diff ${server}\`, then \`sub pins accept ${server} ${accepted}\`.`;
}
