/**
 * A plugin as a user would write it: a greeting with a parameter, an echo, a count-down as a stream, and a summary made
 * by the served model itself.
 */
export default {
  name: 'example',

  register(server) {
    server.addRoute({
      method: 'GET',
      path: '/hello/:name',
      summary: 'Greets somebody',
      handler: (request) => {
        const name = decodeURIComponent(new URL(request.url).pathname.split('/').at(-1));
        return Response.json({greeting: `Hello ${name}`, model: server.servedModelNames[0]});
      },
    });

    server.addRoute({
      method: 'POST',
      path: '/v1/echo',
      handler: async (request) =>
        new Response(await request.text(), {
          status: 201,
          headers: {'x-type': request.headers.get('content-type') ?? ''},
        }),
    });

    server.addRoute({
      method: 'GET',
      path: '/count-down',
      handler: () => new Response(countDown(3), {headers: {'content-type': 'text/plain'}}),
    });

    server.addRoute({
      method: 'POST',
      path: '/summary',
      handler: async (request) => {
        const messages = [{role: 'user', content: `Summarize: ${await request.text()}`}];
        const answer = await server.fetch('/v1/chat/completions', {
          method: 'POST',
          headers: {'content-type': 'application/json'},
          body: JSON.stringify({messages, max_tokens: 16}),
        });
        if (!answer.ok) return answer;
        const {choices} = await answer.json();
        return Response.json({summary: choices[0].message.content});
      },
    });

    server.addRoute({
      method: 'GET',
      path: '/fails',
      handler: () => {
        throw new Error('out of luck');
      },
    });
  },
};

function countDown(from) {
  const encoder = new TextEncoder();
  let next = from;
  return new ReadableStream({
    pull(controller) {
      if (next === 0) controller.close();
      else controller.enqueue(encoder.encode(`${next--}\n`));
    },
  });
}
