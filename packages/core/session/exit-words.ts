import type { Context } from './context.ts';

/** Why the server does not answer, for people. */
export function exitWords({ config, exit, redact }: Context): string {
  const server = `The MCP server \`${config.serverName}\``;
  if (exit === undefined) return `${server} does not answer.`;
  const { started, code, signal, message } = exit;
  if (!started) {
    const why = message === undefined ? '.' : `: ${message}`;
    return redact(`${server} could not be started${why}`);
  }
  if (typeof signal === 'string') return `${server} was ended by ${signal}.`;
  return typeof code === 'number' ? `${server} exited with code ${code}.` : `${server} has exited.`;
}
