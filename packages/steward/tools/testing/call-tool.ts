// Calls a tool of a server of our own, as the server itself does.
import type { JsonObject } from '@subluminal/contracts';
import type { OwnAnswer, OwnServer } from '@subluminal/plane/agent-run';

let calls = 0;

export interface ToolCallOptions {
  readonly key?: string;
  readonly signal?: AbortSignal;
}

export function toolCaller(server: OwnServer) {
  return (
    name: string,
    args: JsonObject = {},
    options: ToolCallOptions = {},
  ): Promise<OwnAnswer> => {
    const tool = server.tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`${server.name} has no tool ${name}.`);
    const { key = `key-${calls++}`, signal = new AbortController().signal } = options;
    return tool.call(args, { key, signal });
  };
}
