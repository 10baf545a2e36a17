/** A small text of our own, from whose lines and words prompts are made. */

export const lines: readonly string[] = `
The morning train was late again and nobody on the platform seemed surprised
A baker swept flour from the window while the first loaves cooled behind him
Rain had fallen through the night and left the garden path the colour of slate
Two children counted sparrows on the wire and argued about the thirteenth
The old clock above the market lost four minutes a day and kept its place
She wrote down every bird she saw and the hour and the shape of the wind
In the harbour a grey boat turned slowly until its name could be read
He mended the gate with a hinge from a door that no longer existed
The river carried leaves past the mill and sometimes a bottle or a hat
Every evening the lamps were lit from the north end of the street
A letter lay on the table for a week before anyone opened it
The mountain kept its snow until June and the valley kept its sheep
They planted beans beside the wall where the sun stayed longest
Someone had drawn a map on the back of a menu and forgotten it there
The library closed at six but the reading room had a second door
Under the bridge the echo answered twice and then was quiet
A dog waited outside the shop with the patience of a statue
The teacher drew a circle and asked what was missing from it
On the last page of the ledger stood a sum that nobody could explain
Wind moved through the barley as if a hand were smoothing cloth
The ferry bell rang once for departure and twice for fog
A violin was being tuned somewhere above the pharmacy
He carried the ladder home through the snow without slipping
The soup needed salt and the story needed an ending
Beyond the station the fields began at once without a fence
She kept a jar of buttons sorted by the coats they came from
The window faced east and the kettle faced the window
A cat crossed the square at noon in no particular hurry
The carpenter measured twice and still cut the shelf too short
Frost drew ferns on the glass of the empty greenhouse
The radio spoke of storms in places with beautiful names
At the edge of the forest the path divided into three
A lantern hung from the branch where the owl used to sit
The postman knew every dog and most of the secrets
Stones from the old wall now lined the new flower bed
The tide left a chair on the beach and took it back at night
Their grandfather could name the stars but not the planets
An orange rolled off the cart and nobody ran after it
The painter mixed a green that the hills could not match
When the bell stopped the whole town leaned toward the silence
`
  .trim()
  .split('\n');

export const words: readonly string[] = [...new Set(lines.join(' ').toLowerCase().split(' '))];
