// What the agent does in each client scenario of the suite.
import type { Agent } from './agent.ts';
import { scenarioContext } from './context.ts';

type Scenario = (agent: Agent) => Promise<void>;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  initialize: listTools,
  tools_call: (agent) => callAfterList(agent, 'add_numbers', { a: 5, b: 3 }),
  'elicitation-sep1034-client-defaults': (agent) =>
    callAfterList(agent, 'test_client_elicitation_defaults', {}),
  'sse-retry': (agent) => callAfterList(agent, 'test_reconnection', {}),
  'request-metadata': listTools,
  'sep-2322-client-request-state': answerInputRequests,
  'http-standard-headers': useEachMethod,
  'http-custom-headers': callAsTold,
  'http-invalid-tool-headers': callEachTool,
  'json-schema-ref-no-deref': listTools,
  'json-schema-2020-12-preservation': echoSchema,
};

export function scenario(name: string): Scenario {
  const found = SCENARIOS[name];
  if (found !== undefined) return found;
  if (name.startsWith('auth/')) return (agent) => callAfterList(agent, 'test-tool', {});
  throw new Error(`The fixture client does not know the scenario ${name}`);
}

async function listTools(agent: Agent): Promise<void> {
  await agent.listTools();
}

async function callAfterList(
  agent: Agent,
  name: string,
  args: Record<string, unknown>,
): Promise<void> {
  await agent.listTools();
  await agent.callTool({ name, arguments: args });
}

async function answerInputRequests(agent: Agent): Promise<void> {
  await agent.listTools();
  for (const name of ['test_mrtr_echo_state', 'test_mrtr_no_state', 'test_mrtr_unrelated']) {
    await agent.callTool({ name, arguments: {} });
  }
  // The SDK refuses a result without `resultType`. The suite wants only that it is not sent again.
  await agent.callTool({ name: 'test_mrtr_no_result_type', arguments: {} }).catch(report);
}

async function useEachMethod(agent: Agent): Promise<void> {
  const { tools } = await agent.listTools();
  for (const { name } of tools) await agent.callTool({ name, arguments: {} });
  const { resources } = await agent.listResources();
  for (const { uri } of resources) await agent.readResource({ uri });
  const { prompts } = await agent.listPrompts();
  for (const { name } of prompts) await agent.getPrompt({ name });
}

/** The suite says in the environment which calls it waits for. */
async function callAsTold(agent: Agent): Promise<void> {
  await agent.listTools();
  for (const call of scenarioContext().toolCalls ?? []) await agent.callTool(call);
}

async function callEachTool(agent: Agent): Promise<void> {
  const { tools } = await agent.listTools();
  for (const { name } of tools) {
    await agent.callTool({ name, arguments: { region: 'us-west1' } }).catch(report);
  }
}

async function echoSchema(agent: Agent): Promise<void> {
  const { tools } = await agent.listTools();
  const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema;
  await agent.callTool({ name: 'json_schema_echo', arguments: { schema } });
}

function report(cause: unknown): void {
  process.stderr.write(`${String(cause)}\n`);
}
