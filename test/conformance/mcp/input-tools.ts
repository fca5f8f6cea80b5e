// Tools of the modern server that ask for input before they answer, in one round or in several.
import { randomBytes, randomUUID } from 'node:crypto';
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ASK_COLOR, ASK_NAME, ASK_OK } from './forms.ts';
import { text } from './offer.ts';

type State = Readonly<Record<string, unknown>>;
type Answer = Promise<CallToolResult | InputRequiredResult>;
type Envelope = { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities };
type Responses = ServerContext['mcpReq']['inputResponses'];

/** Sealed, so that a state that was tampered with is refused before a tool sees it. */
export const STATES = createRequestStateCodec<State>({ key: randomBytes(32) });

const TOOLS: Readonly<Record<string, (context: ServerContext) => Answer>> = {
  elicitation: async ({ mcpReq }) => {
    const name = nameIn(mcpReq.inputResponses, 'user_name');
    return name === undefined
      ? inputRequired({ inputRequests: { user_name: askName('What is your name?') } })
      : done(`Hello, ${name}!`);
  },
  sampling: async ({ mcpReq }) => {
    const response = mcpReq.inputResponses?.['capital_question'];
    return response === undefined
      ? inputRequired({
          inputRequests: { capital_question: askModel('What is the capital of France?') },
        })
      : done(`Sampling response: ${JSON.stringify(response)}`);
  },
  list_roots: async ({ mcpReq }) => {
    const response = mcpReq.inputResponses?.['client_roots'];
    return response === undefined
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : done(`Roots: ${JSON.stringify(response)}`);
  },
  url: async ({ mcpReq }) => {
    const response = mcpReq.inputResponses?.['page'];
    if (response !== undefined) return done(`Visited: ${JSON.stringify(response)}`);
    const url = 'https://example.com/login?a=1';
    const page = inputRequired.elicitUrl({ message: 'Please log in', url });
    return inputRequired({ inputRequests: { page } });
  },
  declined: async ({ mcpReq }) => {
    const response = mcpReq.inputResponses?.['refused'];
    return response === undefined
      ? inputRequired({ inputRequests: { refused: askName('Please decline') } })
      : done(`Answered: ${JSON.stringify(response)}`);
  },
  failed: async () => inputRequired({ inputRequests: { failing: askName('Please fail') } }),
  request_state: ({ mcpReq }) => confirmed(mcpReq, 'state-ok: the state came back'),
  tampered_state: ({ mcpReq }) => confirmed(mcpReq, 'integrity-ok: the state came back'),
  multiple_inputs: async ({ mcpReq }) => {
    const name = nameIn(mcpReq.inputResponses, 'user_name');
    const { greeting, client_roots: roots } = mcpReq.inputResponses ?? {};
    if (name !== undefined && greeting !== undefined && roots !== undefined) {
      return done(`Hello ${name}: ${JSON.stringify({ greeting, roots })}`);
    }
    return inputRequired({
      inputRequests: {
        user_name: askName('What is your name?'),
        greeting: askModel('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await newState({}),
    });
  },
  multi_round: async ({ mcpReq }) => {
    const state = mcpReq.requestState<State>();
    if (state === undefined) {
      return inputRequired({
        inputRequests: { step1: askName('Step 1: What is your name?') },
        requestState: await newState({ round: 1 }),
      });
    }
    if (state['round'] === 1) {
      const name = nameIn(mcpReq.inputResponses, 'step1');
      return inputRequired({
        inputRequests: {
          step2: inputRequired.elicit({
            message: 'Step 2: What is your favorite color?',
            requestedSchema: ASK_COLOR,
          }),
        },
        requestState: await newState({ round: 2, name }),
      });
    }
    const color = acceptedContent<{ color: string }>(mcpReq.inputResponses, 'step2')?.color;
    return done(`${String(state['name'])} likes ${color}`);
  },
  capabilities: async ({ mcpReq }) => {
    if (mcpReq.inputResponses !== undefined) return done('Got what the client is able to give');
    const envelope: Envelope | undefined = mcpReq.envelope;
    const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY];
    const inputRequests: InputRequests = {
      ...(declared?.elicitation && { user_name: askName('What is your name?') }),
      ...(declared?.sampling && { greeting: askModel('Generate a short greeting') }),
      ...(declared?.roots && { client_roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length === 0
      ? done('The client is able to give nothing')
      : inputRequired({ inputRequests });
  },
};

export function registerInputTools(server: McpServer): void {
  const inputSchema = fromJsonSchema({ type: 'object', properties: {} });
  for (const [name, call] of Object.entries(TOOLS)) {
    const config = { description: `Asks for input: ${name.replaceAll('_', ' ')}`, inputSchema };
    server.registerTool(`test_input_required_result_${name}`, config, (_args, context) =>
      call(context),
    );
  }
}

async function confirmed(mcpReq: ServerContext['mcpReq'], answer: string): Answer {
  const isConfirmed = acceptedContent(mcpReq.inputResponses, 'confirm') !== undefined;
  if (isConfirmed && mcpReq.requestState() !== undefined) return done(answer);
  return inputRequired({
    inputRequests: {
      confirm: inputRequired.elicit({ message: 'Please confirm', requestedSchema: ASK_OK }),
    },
    requestState: await newState({}),
  });
}

function newState(state: State): Promise<string> {
  return STATES.mint({ ...state, nonce: randomUUID() });
}

function nameIn(responses: Responses, key: string): string | undefined {
  const name = acceptedContent<{ name: unknown }>(responses, key)?.name;
  return typeof name === 'string' ? name : undefined;
}

function askName(message: string) {
  return inputRequired.elicit({ message, requestedSchema: ASK_NAME });
}

function askModel(question: string) {
  return inputRequired.createMessage({
    messages: [{ role: 'user', content: text(question) }],
    maxTokens: 100,
  });
}

function done(value: string): CallToolResult {
  return { content: [text(value)] };
}
