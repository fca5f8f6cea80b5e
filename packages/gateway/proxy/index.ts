export { agentVariables, envConflicts } from './env-conflicts.ts';
export { GatewayClient } from './gateway-client.ts';
export {
  type GatewayLogin,
  gatewayAddress,
  loginPath,
  notLoggedIn,
  readLogin,
  writeLogin,
} from './login.ts';
export { forgetLogin, openLogin, saveLogin } from './login-key.ts';
export {
  type ProxyState,
  proxyLog,
  runningProxy,
  startProxyProcess,
  stopProxy,
  takePlace,
} from './proxy-process.ts';
export { bindingPath, bindRepo, readBinding } from './repo-binding-file.ts';
export { RepoReader } from './repo-facts.ts';
export { startOwnProxy } from './start-own-proxy.ts';
export { machineIdOf, openGatewayLink, type RunningProxy, startProxy } from './start-proxy.ts';
