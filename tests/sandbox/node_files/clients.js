// The provider's and Slack's own clients, asked over standard input: a JSON object a line, an answer a line.
// {"id", "kind" stripe or slack, "key", "options", "call" like refunds.create, "args", "whole" reads all}

import { createInterface } from 'node:readline';
import { WebClient } from '@slack/web-api';
import Stripe from 'stripe';

const made = new Map();

function client(kind, key, options) {
  const name = JSON.stringify([kind, key, options]);
  if (!made.has(name)) {
    made.set(name, kind === 'stripe' ? new Stripe(key, options) : new WebClient(key, options));
  }
  return made.get(name);
}

function called(root, path, args) {
  const names = path.split('.');
  const method = names.pop();
  const holder = names.reduce((found, name) => found[name], root);
  return holder[method](...args);
}

function refusal(error) {
  const { code, param, statusCode, requestId, message, headers, data, retryAfter } = error;
  const answered = { code, param, statusCode, requestId, message, headers, data, retryAfter };
  return { class: error.constructor.name, ...answered };
}

async function answer({ id, kind, key, options, call, args, whole }) {
  const items = [];
  try {
    const running = called(client(kind, key, options), call, args);
    if (whole) {
      for await (const item of running) items.push(item);
      return { id, value: items };
    }
    const value = await running;
    const { statusCode: status, requestId, headers } = value.lastResponse ?? {};
    return { id, value, response: { status, requestId, headers } };
  } catch (error) {
    return { id, value: items, error: refusal(error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  answer(JSON.parse(line)).then((told) => process.stdout.write(`${JSON.stringify(told)}\n`));
}
