/** The data set tools: questions that ask for a call of one of three tools, for the measurement of streamed calls. */
import {type Dataset, type DatasetContext, singleTurn, userTurn} from './dataset.ts';

function tool(name: string, description: string, properties: Record<string, unknown>) {
  const parameters = {type: 'object', properties, required: Object.keys(properties)};
  return {type: 'function', function: {name, description, parameters}};
}

const text = (description: string) => ({type: 'string', description});

const toolDefinitions = [
  tool('get_weather', 'Weather of a place on a day', {
    place: text('Name of the town'),
    day: text('Date in the form YYYY-MM-DD'),
  }),
  tool('convert_currency', 'Converts an amount of money', {
    amount: {type: 'number', description: 'How much'},
    from: text('Currency code, e.g. EUR'),
    to: text('Currency code, e.g. JPY'),
  }),
  tool('search_trains', 'Finds train connections', {
    from: text('Station of departure'),
    to: text('Station of arrival'),
    after: text('Earliest departure in the form HH:MM'),
  }),
];

export const questions: readonly string[] = [
  'Will it rain in Lisbon on 2026-03-14?',
  'How cold does it get in Tromsø on 2026-01-20?',
  'Is 2026-07-02 a good day for the beach in Split?',
  'What is the weather in Nairobi on 2026-05-09?',
  'Do I need an umbrella in Bergen on 2026-10-11?',
  'Tell me the forecast for Kyoto on 2026-04-03.',
  'How windy is it in Wellington on 2026-08-30?',
  'How many yen are 250 euros?',
  'Convert 99.95 US dollars to Swiss francs.',
  'What are 1200 Czech crowns in euros?',
  'I have 40 pounds. How many Canadian dollars is that?',
  'Turn 15000 Korean won into US dollars, please.',
  'What is 3.5 million Indonesian rupiah in Australian dollars?',
  'How much is 75 Norwegian kroner in Danish kroner?',
  'Find a train from Vienna to Graz after 09:30.',
  'Which trains go from Lyon to Marseille after 18:00?',
  'I want to go from Utrecht to Leiden after 07:15.',
  'When does the next train leave from Turin to Milan after 12:45?',
  'Look for trains from Malmö to Gothenburg after 16:20.',
  'Is there a connection from Porto to Coimbra after 21:00?',
];

export async function toolsDataset({settings, tokenizer}: DatasetContext): Promise<Dataset> {
  const {toolChoice} = settings;
  const tool_choice = toolChoice.startsWith('{') ? JSON.parse(toolChoice) : toolChoice;
  const samples = await Promise.all(
    questions.map(async (question, index) => {
      const promptTokens = await tokenizer.count(question);
      const turn = userTurn(question, {
        promptTokens,
        outputTokens: settings.outputLen ?? 128,
        fields: {tools: toolDefinitions, tool_choice},
      });
      return singleTurn(turn, `tools-${index + 1}`);
    }),
  );
  return {
    samples,
    ignoresEos: false,
    notes: ['Lengths of prompts are those of the questions; definitions of tools come on top'],
  };
}
