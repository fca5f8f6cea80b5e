// A remote server and the authorization server that it trusts, for one test.
import { onTestFinished } from 'vitest';
import {
  type IssuerOptions,
  type ResourceOptions,
  startIssuer,
  startResource,
} from '../../packages/plane/services/oauth/testing/authorization-server.ts';

export async function startServers(
  issuing: IssuerOptions = {},
  serving: Partial<ResourceOptions> = {},
) {
  const issuer = await startIssuer(issuing);
  onTestFinished(() => issuer.close());
  const resource = await startResource({ issuer, ...serving });
  onTestFinished(() => resource.close());
  return { issuer, url: resource.url };
}
