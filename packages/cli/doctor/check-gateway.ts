// Checks what the turns of agents need: the login, the gateway, the binding of the repository, the proxy, the variables.
import { isFailure } from '@subluminal/contracts';
import {
  agentVariables,
  envConflicts,
  GatewayClient,
  type GatewayLogin,
  openGatewayLink,
  openLogin,
  RepoReader,
  readBinding,
  readLogin,
  runningProxy,
} from '@subluminal/gateway/proxy';
import type { LoadedConfig } from '../input/own-config.ts';
import { vaultOf } from '../proxy/developer-machine.ts';
import {
  broken,
  brokenBy,
  configuredCheck,
  type Finding,
  type Machine,
  ok,
  warn,
} from './check.ts';

const TIMEOUT_MS = 5_000;
/** The clock of a gateway is told to the second, and the answer takes its time. */
const SKEW_MAX_MS = 60_000;

export const checkGateway = configuredCheck('which gateway there is', async (loaded, machine) => {
  const { config } = loaded;
  const login = await openLogin(vaultOf({ config, paths: machine.paths }));
  if (login === undefined) return ok('this machine is not logged in to one');
  return isFailure(login) ? brokenBy(login) : askGateway(login, loaded, machine);
});

async function askGateway(
  { gatewayUrl, apiKey }: GatewayLogin,
  { config }: LoadedConfig,
  { versions, cwd }: Machine,
): Promise<Finding> {
  const upstream = openGatewayLink(config, gatewayUrl);
  if (isFailure(upstream)) return brokenBy(upstream);
  const { sub: version } = versions;
  const options = { gatewayUrl, apiKey, upstream, version, timeoutMs: TIMEOUT_MS };
  const client = new GatewayClient(options);
  try {
    const checked = await client.checkVersion();
    if (isFailure(checked)) return brokenBy(checked);
    const { is_supported, minimum_version, gateway_version } = checked;
    if (!is_supported) {
      const text = `${gatewayUrl} asks for sub ${minimum_version}; this is ${version}`;
      return broken(text, 'Update Subluminal on this machine.');
    }
    const who = await client.whoami();
    if (isFailure(who)) return brokenBy(who);
    const skewMs = client.clockSkewMs ?? 0;
    if (Math.abs(skewMs) > SKEW_MAX_MS) {
      const seconds = Math.round(Math.abs(skewMs) / 1_000);
      const text = `the clock of this machine is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of ${gatewayUrl}`;
      return warn(text, 'Set the clock: bindings of repositories end by it.');
    }
    const text = `${gatewayUrl} (version ${gateway_version}) knows this machine as ${who.user_id} (${who.role})`;
    return ok(`${text}${await bindingText(cwd)}`);
  } finally {
    await upstream.close();
  }
}

async function bindingText(folder: string): Promise<string> {
  const repo = await new RepoReader().read(folder);
  if (repo === undefined) return '';
  const bound = readBinding(repo);
  if (bound === undefined) return `; ${repo.root} is not bound yet`;
  const isOver = bound.expiresMs <= Date.now();
  return `; ${repo.root} ${isOver ? 'was' : 'is'} bound as ${bound.repoId}`;
}

export const checkProxy = configuredCheck('where the proxy is', async ({ config }, machine) => {
  const { env, userHome, cwd, paths } = machine;
  const proxy = runningProxy(paths.run);
  const hasLogin = readLogin(paths.home) !== undefined;
  if (proxy === undefined) {
    if (!hasLogin) return ok('it does not run');
    return warn('it does not run, although this machine is logged in', 'Run `sub proxy start`.');
  }
  const { url, mode, identity } = proxy;
  if (hasLogin !== (mode === 'gateway')) {
    const text = 'it was started before this machine has logged in or out';
    return warn(text, 'Run `sub proxy stop`, then `sub proxy start`.');
  }
  const wanted = agentVariables(url, mode === 'own' || config['proxy.fallback'] === 'own');
  const conflicts = envConflicts({ env, userHome, cwd, wanted });
  if (conflicts.length === 0) return ok(`it runs on ${url} (pid ${identity.pid})`);
  const finding = warn(
    `it runs on ${url}, but some agents may pass it by`,
    'Remove what is listed, and run `eval "$(sub env)"` where agents start.',
  );
  return { ...finding, more: conflicts.map(({ where, why }) => `${where} ${why}`) };
});
