// A server for the tests of content, on the official SDK: structured answers, and questions to the
// client in the middle of a call. What it says stands in TALKER_TEXT.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const SAID = process.env.TALKER_TEXT ?? '';
const text = { type: 'string' };
const report = {
  type: 'object',
  properties: {
    note: text,
    count: { type: 'integer' },
    parts: {
      type: 'array',
      items: { type: 'object', properties: { line: text }, required: ['line'] },
    },
  },
  required: ['note', 'count', 'parts'],
  additionalProperties: false,
};
const tool = (name, more = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
});
const TOOLS = [tool('report', { outputSchema: report }), tool('sample'), tool('elicit')];

const { server } = new McpServer({ name: 'talker', version: '1' }, { capabilities: { tools: {} } });

const ANSWERS = {
  report() {
    const structuredContent = { note: SAID, count: 3, parts: [{ line: 'plain' }, { line: SAID }] };
    return {
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
    };
  },
  async sample() {
    const messages = [{ role: 'user', content: { type: 'text', text: SAID } }];
    return said(await server.createMessage({ messages, maxTokens: 10 }));
  },
  async elicit() {
    const requestedSchema = { type: 'object', properties: { name: text } };
    return said(await server.elicitInput({ message: SAID, requestedSchema }));
  },
};

const said = (value) => ({ content: [{ type: 'text', text: `heard ${JSON.stringify(value)}` }] });

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }) => {
  try {
    return await ANSWERS[name]();
  } catch (error) {
    return said({ failed: error.message });
  }
});
await server.connect(new StdioServerTransport());
