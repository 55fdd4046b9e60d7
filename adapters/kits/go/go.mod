module jetproof/kit

go 1.24
