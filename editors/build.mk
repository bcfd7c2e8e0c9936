# SPDX-License-Identifier: GPL-2.0-only
# What editors know of the language, from the tables of docs/.

.PHONY: editors
## editors: generate editors/vim/syntax/hp.vim and editors/hp.tmLanguage.json
editors:
	editors/generate.py editors
