// Whether the guardian is another model than the agent: what fools one model often fools it twice.
import type { IntegrationsFile, StewardModel } from '@subluminal/contracts';

/** The model that is asked first as agent and as guardian. */
export function sharedModel({ agent, guardian = agent }: IntegrationsFile['models']) {
  const [acting, judging] = [agent[0], guardian[0]];
  if (acting === undefined || judging === undefined) return undefined;
  return placeOf(acting) === placeOf(judging) ? acting.model : undefined;
}

function placeOf({ provider, base_url = '', model }: StewardModel): string {
  return [provider, base_url, model].join(' ');
}
