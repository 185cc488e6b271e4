// A model server on a given port, in its own process: it asks once, and then answers. It ends with its parent.
import { startChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';

const QUESTION = 'OUTPUT:\nWhich cases are there, and what comes out of each?';
const ANSWER = 'OUTPUT:\nI WANT TO ANSWER:\n```python\ndef nothing():\n    return 0\n```';

process.stdin.resume();
process.stdin.once('close', () => process.exit());
void startChatServer({
  port: Number(process.argv[2]),
  reply: ({ body, index }) =>
    answer(body.messages.some(({ role }) => role === 'assistant') ? ANSWER : QUESTION, {
      firstDelay: (index * 37) % 300,
      pieceDelay: 20,
    }),
});
