// What the monitor looks for, with the thresholds that hold now, in words.
import type { GuardrailsFile, StewardAnswers } from '@subluminal/contracts';
import { SPIKE_CALLS_MIN, USUAL_TIMES, VERDICTS_MIN } from './judge-events.ts';
import { BUDGET_SHARE } from './monitor.ts';

type MonitorRules = StewardAnswers['status']['monitor_rules'];

const OFF = 'never: switched off';

export function monitorRules({
  monitor,
  day,
}: Pick<GuardrailsFile, 'monitor' | 'day'>): MonitorRules {
  const { calls_per_minute, blocks_percent, injections_per_hour, quiet_hours } = monitor;
  return [
    {
      name: 'Calls of one tool',
      alerts: `more than ${calls_per_minute} in a minute, or ${SPIKE_CALLS_MIN} and more in an hour that are over ${USUAL_TIMES} times the usual`,
    },
    {
      name: 'Guardian',
      alerts: `blocks more than ${blocks_percent} % of at least ${VERDICTS_MIN} actions in an hour`,
    },
    {
      name: 'Injected instructions',
      alerts: `more than ${injections_per_hour} contents with some in an hour`,
    },
    {
      name: 'Quiet hours',
      alerts:
        quiet_hours === undefined
          ? 'never: none are set'
          : `any call from ${quiet_hours.from} to ${quiet_hours.to} (${quiet_hours.utc_offset ?? 'UTC'})`,
    },
    { name: 'New hosts', alerts: monitor.new_hosts ? 'one that was never reached before' : OFF },
    {
      name: 'New recipients',
      alerts: monitor.new_recipients ? 'one that was never written to before' : OFF,
    },
    {
      name: 'Money',
      alerts: `${BUDGET_SHARE * 100} % of the $${day.usd} of a day are spent`,
    },
    { name: 'Governance', alerts: 'it is degraded, or a breaker opens' },
    { name: 'Messages to you', alerts: `${monitor.alerts_per_day} a day; the rest is only listed` },
  ];
}
