// The database of a gateway, for commands that look into it.
import { existsSync } from 'node:fs';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { databaseAddress, type GatewayConfig, loadGatewayConfig } from '@subluminal/gateway/config';
import { type GatewayStore, openGatewayStore } from '@subluminal/gateway/store';
import { plural } from '../terminal/text.ts';
import { secretPlaces } from './config-home.ts';

export interface OpenedGateway {
  readonly kind: 'opened';
  readonly config: GatewayConfig;
  readonly store: GatewayStore;
}

/** Opens the database that a configuration names. It makes none: a gateway does that when it starts. */
export async function openGateway(dir: string): Promise<OpenedGateway | Failure> {
  const places = await secretPlaces();
  const loaded = await loadGatewayConfig(dir, { places, use: 'check' });
  if (isFailure(loaded)) return loaded;
  if (!loaded.ok) {
    const errors = loaded.problems.filter(({ level }) => level === 'error');
    const message = `The configuration in ${dir} has ${plural(errors.length, 'error')}.`;
    return failure('SUB_GATEWAY_VALUE', message, `Run \`sub gateway check ${dir}\`.`);
  }
  const { config } = loaded;
  const database = databaseAddress(config, places.home);
  if (database === undefined) {
    const message = 'The URL of the database cannot be resolved.';
    const fix = `Set what \`url_ref\` of ${dir}/gateway.yaml names.`;
    return failure('SUB_GATEWAY_UNRESOLVED', message, fix);
  }
  if (!/^postgres(?:ql)?:/.test(database) && !existsSync(database)) {
    const message = `There is no database at ${database}.`;
    const fix = 'Start the gateway first, or set SUB_HOME as it is where the gateway runs.';
    return failure('SUB_FILE_READ', message, fix);
  }
  const store = await openGatewayStore({ database });
  return { kind: 'opened', config, store };
}
