// The tools of a server as a list; beside it the server, or the tool that is chosen, with its charts.
import type { ApiServer, ApiServerTool } from '@subluminal/contracts';
import { goTo, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { countText } from '../../parts/amounts.ts';
import { CommandLine } from '../../parts/buttons.tsx';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { plainLine, plainText } from '../../parts/plain-text.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { ServerCharts } from './server-charts.tsx';
import { BreakerWord, ManifestWord, PinsWord, TierWord, ToolPinWord } from './server-state.tsx';

export function ToolsTab({ server }: { readonly server: ApiServer }) {
  const { params } = useAddress();
  const tool = server.tools.find(({ tool_name }) => tool_name === params['tool']);
  const choose = ({ tool_name }: ApiServerTool) =>
    goTo({ params: { tool: tool_name === params['tool'] ? '' : tool_name } }, 'replace');
  return (
    <div className="flex min-h-0 flex-1 max-lg:flex-col max-lg:overflow-y-auto">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col max-lg:h-[480px] max-lg:flex-none max-lg:border-t max-lg:border-line">
        <div className="min-h-0 flex-1">
          <DataTable
            label="Tools"
            columns={COLUMNS}
            rows={server.tools}
            rowKey={({ tool_name }) => tool_name}
            selected={tool?.tool_name}
            onOpen={choose}
            empty={
              <p className="px-4 py-12 text-center text-dim">
                No tool of it was called or is pinned.
              </p>
            }
          />
        </div>
        {server.tools_total > server.tools.length && (
          <p className="border-t border-line px-3 py-1 text-dim">
            {countText(server.tools_total - server.tools.length)} further tools are not shown.
          </p>
        )}
      </div>
      <section
        aria-label={tool === undefined ? 'The server' : 'The tool'}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- What scrolls must be reached by keys.
        tabIndex={0}
        className="flex w-[440px] shrink-0 flex-col gap-4 overflow-y-auto border-l border-line p-3 max-lg:order-first max-lg:w-full max-lg:overflow-visible max-lg:border-l-0"
      >
        {tool === undefined ? <ServerFacts server={server} /> : <ToolFacts tool={tool} />}
        <ServerCharts server={server.server_name} tool={tool?.tool_name} />
        <CommandLine command={commandOf(server, tool)} />
      </section>
    </div>
  );
}

/** The calls that the charts are about. */
function commandOf({ server_name }: ApiServer, tool: ApiServerTool | undefined): string {
  const server = `sub query --server ${shellWord(server_name, 'SERVER')}`;
  return tool === undefined ? server : `${server} --tool ${shellWord(tool.tool_name, 'TOOL')}`;
}

function ServerFacts({ server }: { readonly server: ApiServer }) {
  const { breaker, last_trip, manifest, clients } = server;
  return (
    <FactList>
      <Fact label="Pins">
        <Link to={{ params: { tab: 'pins', tool: '' } }} className="hover:underline">
          <PinsWord server={server} />
        </Link>
      </Fact>
      <Fact label="Manifest">
        <ManifestWord manifest={manifest} />
        {manifest.problem !== null && <p>{plainText(manifest.problem)}</p>}
      </Fact>
      <Fact label="Breaker">
        <BreakerWord breaker={breaker} />
        {breaker.at_ms !== null && (
          <span className="ml-2 text-dim">
            <Ago atMs={breaker.at_ms} />
          </span>
        )}
        {breaker.detail !== null && <p>{plainText(breaker.detail)}</p>}
      </Fact>
      {last_trip !== null && (
        <Fact label="Last trip">
          <Value text={last_trip.rule_id} />, <Ago atMs={last_trip.at_ms} />
          <p className="text-dim">{plainText(last_trip.detail)}</p>
        </Fact>
      )}
      <Fact label="Clients">
        {clients.length === 0 ? (
          <span className="text-dim">none has called it</span>
        ) : (
          plainText(clients.join(', '))
        )}
      </Fact>
    </FactList>
  );
}

function ToolFacts({ tool }: { readonly tool: ApiServerTool }) {
  const { pin, change, description, risk_class } = tool;
  return (
    <div className="flex flex-col gap-2">
      <h2 className="text-14 break-all">
        <Value text={tool.tool_name} lengthMax={120} />
      </h2>
      <p className="max-h-40 overflow-y-auto break-words whitespace-pre-wrap">
        {description === null ? (
          <span className="text-dim">Its description is not known.</span>
        ) : (
          plainText(description)
        )}
      </p>
      <FactList>
        <Fact label="Pin">
          <ToolPinWord tool={tool} />
          {pin !== null && (
            <span className="ml-2 text-dim">
              <Ago atMs={pin.accepted_at_ms ?? pin.seen_at_ms} /> ·{' '}
              <Value text={pin.hash} lengthMax={16} />
            </span>
          )}
          {change !== null && <p>{plainText(change.detail)}</p>}
          {change !== null && (
            <Link
              to={{ params: { tab: 'pins', tool: '' } }}
              className="text-accent hover:underline"
            >
              See what has changed
            </Link>
          )}
        </Fact>
        {tool.tier !== null && (
          <Fact label="Manifest">
            <TierWord tier={tool.tier} />
          </Fact>
        )}
        <Fact label="Risk">
          {risk_class.length === 0 ? (
            <span className="text-dim">no class</span>
          ) : (
            plainText(risk_class.join(', '))
          )}
        </Fact>
      </FactList>
    </div>
  );
}

const count = (value: number, ink = '') =>
  value === 0 ? (
    <span className="text-dim">0</span>
  ) : (
    <span className={ink}>{countText(value)}</span>
  );

const COLUMNS: readonly TableColumn<ApiServerTool>[] = [
  {
    id: 'name',
    title: 'Tool',
    width: 'minmax(96px, 1fr)',
    cell: ({ tool_name }) => <Value text={tool_name} lengthMax={48} />,
  },
  { id: 'pin', title: 'Pin', width: '88px', cell: (tool) => <ToolPinWord tool={tool} /> },
  {
    id: 'risk',
    title: 'Risk',
    width: '120px',
    hiddenBelow: 1_280,
    cell: ({ risk_class }) => plainLine(risk_class.join(', ')),
  },
  {
    id: 'tier',
    title: 'Manifest',
    width: '112px',
    hiddenBelow: 1_280,
    cell: ({ tier }) => <TierWord tier={tier} />,
  },
  { id: 'calls', title: 'Calls', width: '56px', align: 'right', cell: ({ calls }) => count(calls) },
  {
    id: 'refused',
    title: 'Refused',
    width: '56px',
    align: 'right',
    cell: ({ refused }) => count(refused, 'text-block-ink'),
  },
  {
    id: 'errors',
    title: 'Errors',
    width: '56px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ errors }) => count(errors, 'text-danger'),
  },
  {
    id: 'last',
    title: 'Last call',
    width: '80px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ last_call_at_ms }) => (last_call_at_ms === null ? '' : <Ago atMs={last_call_at_ms} />),
  },
];
