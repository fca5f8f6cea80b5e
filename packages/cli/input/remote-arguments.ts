// How a command line names a server that is reached by an address: of a shim, and of commands that look at a server.
import type { RemoteStart } from '@subluminal/plane/probe';

export interface RemoteArguments {
  readonly url?: string | undefined;
  readonly 'url-env'?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly 'header-env'?: readonly string[] | undefined;
  readonly 'bearer-env'?: string | undefined;
  readonly transport?: string | undefined;
}

/** The server; undefined where no option names one. A text says what is wrong. */
export function readRemoteArguments(
  given: RemoteArguments,
  env: { readonly [name: string]: string | undefined },
): RemoteStart | undefined | string {
  const { url: shown, 'url-env': urlVariable, transport, 'bearer-env': bearerVariable } = given;
  const { header: headers = [], 'header-env': headerVariables = [] } = given;
  if (shown !== undefined && urlVariable !== undefined) return TWICE;
  const url = shown ?? (urlVariable === undefined ? undefined : env[urlVariable]);
  if (urlVariable !== undefined && !url) {
    return `the address of the server comes from the variable \`${urlVariable}\`, which is not set`;
  }
  if (url !== undefined) return { url, headers, headerVariables, bearerVariable, transport };
  const isLoose = [...headers, ...headerVariables, bearerVariable, transport].some(
    (one) => one !== undefined,
  );
  return isLoose ? NEEDS_URL : undefined;
}

const TWICE = 'a server has one address: leave `--url` or `--url-env` out';
const NEEDS_URL = '--header, --header-env, --bearer-env and --transport need --url';
export const COMMAND_AND_URL =
  'a server has a command or an address: leave `--url` or the command out';
