// The id of a tool in policies: `server::tool`, which must mean one server and one tool only.

interface ToolName {
  readonly server: string;
  readonly tool: string;
}

/** The id, or undefined for names that would share it with others: `a:` and `b` with `a` and `:b`. */
export function toolId({ server, tool }: ToolName): string | undefined {
  if (server === '' || tool === '' || server.includes('::') || server.endsWith(':'))
    return undefined;
  return `${server}::${tool}`;
}

export function splitToolId(id: string): ToolName | undefined {
  const at = id.indexOf('::');
  const name = { server: id.slice(0, at), tool: id.slice(at + 2) };
  return at > 0 && toolId(name) === id ? name : undefined;
}
